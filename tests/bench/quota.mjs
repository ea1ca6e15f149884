// A share of a core for a process, as if it had a slower machine to itself: so that several fit into
// this one and none takes what another is to have. Not a benchmark.

import fs from 'node:fs';
import path from 'node:path';

/* Short, or whoever has used up its share stands still for long. */
const PERIOD_US = 20000;

/* How Linux' two kinds of control groups say it: https://docs.kernel.org/scheduler/sched-bwc.html */
const KINDS = [
    { root: '/sys/fs/cgroup/cpu', limit: (us) => [['cpu.cfs_period_us', PERIOD_US], ['cpu.cfs_quota_us', us]] },
    { root: '/sys/fs/cgroup', limit: (us) => [['cpu.max', `${us} ${PERIOD_US}`]] },
];

const groups = new Set();

function remove(group) {
    try {
        fs.rmdirSync(group);
        groups.delete(group);
    } catch { /* who was in it has not quite ended */ }
}

process.on('exit', () => groups.forEach(remove));

/* Give the process SHARE of a core, all threads together. False where this machine does not let us. */
export function allot(pid, share) {
    groups.forEach(remove);
    for (const { root, limit } of KINDS) {
        const group = path.join(root, `farlands-bench-${pid}`);
        try {
            fs.mkdirSync(group);
            groups.add(group);
            for (const [file, value] of limit(Math.round(share * PERIOD_US)))
                fs.writeFileSync(path.join(group, file), String(value));
            fs.writeFileSync(path.join(group, 'cgroup.procs'), String(pid));
            return true;
        } catch {
            remove(group);
        }
    }
    return false;
}
