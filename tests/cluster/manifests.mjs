// The files in docker/, parsed. Not a test.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const DOCKER = fileURLToPath(new URL('../../docker', import.meta.url));
export const text = (file) => fs.readFileSync(path.join(DOCKER, file), 'utf8');

/* Debian's PyYAML. A duplicate key is an error, as for the programs that read these files. */
const READER = `
import json, sys, yaml
class Strict(yaml.SafeLoader):
    pass
def mapping(loader, node, deep=False):
    keys = [loader.construct_object(key, deep=True) for key, _ in node.value if key.tag != 'tag:yaml.org,2002:merge']
    for key in keys:
        if keys.count(key) > 1:
            raise SystemExit('%s: duplicate key %r' % (node.start_mark, key))
    loader.flatten_mapping(node)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)
Strict.add_constructor('tag:yaml.org,2002:map', mapping)
json.dump([list(yaml.load_all(open(file), Strict)) for file in sys.argv[1:]], sys.stdout)
`;

/* The documents of one file below docker/. */
export function documents(file) {
    return JSON.parse(execFileSync('python3', ['-c', READER, path.join(DOCKER, file)],
        { maxBuffer: 1 << 24, encoding: 'utf8' }))[0];
}

export const document = (file) => documents(file)[0];

/* The paths of all files below docker/ with this ending, relative to docker/. */
export function filesEnding(...endings) {
    return fs.readdirSync(DOCKER, { recursive: true })
        .filter((file) => endings.some((ending) => file.endsWith(ending))).sort();
}

/*
 * The objects that `kubectl apply -k` sends for a directory below docker/: its resources and the generated
 * ConfigMaps with their files as keys. Names of ConfigMaps have no hash suffixes here.
 */
export function kustomized(directory) {
    const { resources, configMapGenerator = [] } = document(path.join(directory, 'kustomization.yaml'));
    return [
        ...resources.flatMap((file) => documents(path.join(directory, file))),
        ...configMapGenerator.map(({ name, files }) => ({
            apiVersion: 'v1', kind: 'ConfigMap', metadata: { name },
            data: Object.fromEntries(files.map((file) => [path.basename(file), text(path.join(directory, file))])),
        })),
    ];
}

const UNITS = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/* Bytes of "10G" (Farlands) or "12Gi" (Kubernetes). */
export function bytes(quantity) {
    const [, number, unit] = /^(\d+)([KMGT]?)i?$/.exec(quantity) ?? [];
    return Number(number) * UNITS[unit];
}

/* Seconds of "30s". */
export function seconds(duration) {
    return Number(/^(\d+)s$/.exec(duration)[1]);
}

/* The limit of a node's drain, in seconds. */
export const DRAIN = Number(/^ {2}drain: (\d+)$/m.exec(text('node.yaml'))[1]);
/* The limit of HAProxy's drain, in seconds. */
export const PROXY_DRAIN = seconds(/hard-stop-after (\S+)/.exec(text('haproxy/haproxy.cfg'))[1]);

/* The names of the variables in HAProxy's files. */
export const proxyVariables = () => new Set(
    [...(text('haproxy/haproxy.cfg') + text('haproxy/nodes.cfg')).matchAll(/[({]"?(FARLANDS_[A-Z0-9_]+)/g)].map((match) => match[1]));
