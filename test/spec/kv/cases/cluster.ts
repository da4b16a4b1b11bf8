import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { NOT_AN_INTEGER, wrongArity } from './texts.js';

const FIXED = ['info', 'myid', 'nodes', 'slots', 'shards', 'keyslot', 'countkeysinslot', 'getkeysinslot', 'help'];
const OUT_OF_RANGE = '-ERR Invalid or out of range slot';
const hasText = (text: string) => (reply: unknown) => JSON.stringify(reply).includes(text);

const OF_CONNECTIONS = ['ASKING', 'READONLY', 'READWRITE'];

export const CLUSTER_CASES: readonly KvCase[] = [
  ...OF_CONNECTIONS.flatMap((name) => {
    const refusal = `-ERR Command "${name}" is not allowed in REST or it has a special context path`;
    return [
      kvCase(`${name} needs a connection`, [], name, refusal),
      kvCase(`${name} has an arity`, [], `${name} 1`, wrongArity(name.toLowerCase())),
    ];
  }),
  ...FIXED.map((name) =>
    kvCase(`CLUSTER ${name} has an arity`, [], `CLUSTER ${name} 1 2 3`, wrongArity(`cluster|${name}`), []),
  ),
  kvCase('CLUSTER INFO has the state ok', [], 'CLUSTER INFO', hasText('cluster_state:ok')),
  kvCase('CLUSTER MYID is 40 hex digits', [], 'CLUSTER MYID', (reply) => /^[0-9a-f]{40}$/.test(String(reply))),
  kvCase('CLUSTER NODES has one line', [], 'CLUSTER NODES', hasText('myself,master - 0 0 1 connected 0-16383')),
  kvCase('CLUSTER SLOTS gives all slots to one node', [], 'CLUSTER SLOTS', hasText('[[0,16383,')),
  kvCase('CLUSTER SHARDS has one shard', [], 'CLUSTER SHARDS', hasText('[0,16383]')),
  kvCase('CLUSTER KEYSLOT hashes a key', [], 'CLUSTER KEYSLOT foo', 12182, []),
  kvCase('CLUSTER KEYSLOT hashes the tag in braces', [], 'CLUSTER KEYSLOT {foo}bar', 12182, []),
  kvCase(
    'CLUSTER COUNTKEYSINSLOT counts',
    ['SET foo 1', 'SET {foo}a 1', 'SET b 1'],
    'CLUSTER COUNTKEYSINSLOT 12182',
    2,
    [],
  ),
  kvCase('CLUSTER COUNTKEYSINSLOT refuses a slot past the last', [], 'CLUSTER COUNTKEYSINSLOT 16384', OUT_OF_RANGE),
  kvCase(
    'CLUSTER COUNTKEYSINSLOT refuses an argument that is no slot',
    [],
    'CLUSTER COUNTKEYSINSLOT x',
    NOT_AN_INTEGER,
  ),
  kvCase('CLUSTER GETKEYSINSLOT lists', ['SET foo 1', 'SET b 1'], 'CLUSTER GETKEYSINSLOT 12182 10', ['foo'], []),
  kvCase(
    'CLUSTER GETKEYSINSLOT refuses a negative count',
    [],
    'CLUSTER GETKEYSINSLOT 1 -1',
    '-ERR Invalid number of keys',
  ),
  kvCase('CLUSTER HELP describes', [], 'CLUSTER HELP', hasText('KEYSLOT')),
];
