// A share of a core for a process, as if it had a slower machine to itself: so that several fit into
// this one and none takes what another is to have. Not a benchmark.

import fs from 'node:fs';
import path from 'node:path';

/* Short, or whoever has used up its share stands still for long. */
const PERIOD_US = 20000;

/*
 * How Linux' two kinds of control groups say it (https://docs.kernel.org/scheduler/sched-bwc.html): no more than
 * so much, and, by the greatest weight there is, no less, whatever else runs here.
 */
const KINDS = [
    { root: '/sys/fs/cgroup/cpu', limit: (us) => [['cpu.cfs_period_us', PERIOD_US], ['cpu.cfs_quota_us', us],
        ['cpu.shares', 262144]] },
    { root: '/sys/fs/cgroup', limit: (us) => [['cpu.max', `${us} ${PERIOD_US}`], ['cpu.weight', 10000]] },
];

const NAME = 'farlands-bench-';

/* Groups whose process has ended, of this run or of one that was cut short; of others' nothing happens. */
function removeEmpty(root) {
    const groups = fs.existsSync(root) ? fs.readdirSync(root).filter((name) => name.startsWith(NAME)) : [];
    for (const group of groups)
        try {
            fs.rmdirSync(path.join(root, group));
        } catch { /* somebody is in it */ }
}

export const removeGroups = () => KINDS.forEach(({ root }) => removeEmpty(root));

/* Give the process SHARE of a core, all threads together. False where this machine does not let us. */
export function allot(pid, share) {
    for (const { root, limit } of KINDS) {
        const group = path.join(root, `${NAME}${pid}`);
        try {
            removeEmpty(root);
            fs.mkdirSync(group);
            for (const [file, value] of limit(Math.round(share * PERIOD_US)))
                fs.writeFileSync(path.join(group, file), String(value));
            fs.writeFileSync(path.join(group, 'cgroup.procs'), String(pid));
            return true;
        } catch { /* perhaps of the other kind */ }
    }
    return false;
}
