// Limits a process to a share of a core, as if it had a slower machine to itself, so that several
// fit into this machine without disturbing each other. Not a benchmark.

import fs from 'node:fs';
import path from 'node:path';

/* Short, because a process that has used up its share stalls until the next period. */
const PERIOD_US = 20000;

/*
 * The settings in both versions of Linux control groups (https://docs.kernel.org/scheduler/sched-bwc.html):
 * an upper bound and, through the greatest weight, a lower one whatever else runs here.
 */
const KINDS = [
    { root: '/sys/fs/cgroup/cpu', limit: (us) => [['cpu.cfs_period_us', PERIOD_US], ['cpu.cfs_quota_us', us],
        ['cpu.shares', 262144]] },
    { root: '/sys/fs/cgroup', limit: (us) => [['cpu.max', `${us} ${PERIOD_US}`], ['cpu.weight', 10000]] },
];

const NAME = 'farlands-bench-';

/* Remove groups whose process has ended, in this run or an interrupted one; groups in use stay. */
function removeEmpty(root) {
    const groups = fs.existsSync(root) ? fs.readdirSync(root).filter((name) => name.startsWith(NAME)) : [];
    for (const group of groups)
        try {
            fs.rmdirSync(path.join(root, group));
        } catch { /* still in use */ }
}

export const removeGroups = () => KINDS.forEach(({ root }) => removeEmpty(root));

/* Limit the process to SHARE of a core, all threads together. False if not permitted here. */
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
        } catch { /* perhaps the other version */ }
    }
    return false;
}
