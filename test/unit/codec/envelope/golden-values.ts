/** The values with bytes recorded in test/fixtures/journals/envelope-v1.json. Never edited. */
import { hashSection, NO_HASH } from '../../../../src/codec/envelope/index.js';
import type { CommandId, PartitionName, ShardName } from '../../../../src/kernel/index.js';
import type { Entry, Manifest, Section } from '../../../../src/protocol/index.js';

const shard = 'KV_3' as ShardName;
const first: Section = {
  partition: 'kv:db-aaaabbbbccccdddd:0' as PartitionName,
  index: 1,
  previousHash: NO_HASH,
  effects: Buffer.from('*3\r\n$3\r\nSET\r\n$4\r\nname\r\n$5\r\n\xff\x00\xc3\xa9!\r\n', 'latin1'),
};
const second: Section = {
  partition: 'kv:db-22223333bbbb7777:12' as PartitionName,
  index: 4_294_967_296,
  previousHash: hashSection(first),
  effects: Buffer.from('*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n'.repeat(40), 'latin1'),
};
const header = {
  shard,
  epoch: 7,
  writer: Uint8Array.from({ length: 16 }, (_, i) => 0xf0 + i),
  number: 300,
  previousHash: Uint8Array.from({ length: 32 }, (_, i) => i),
  clockMs: 1_790_000_000_123,
};

export const goldenEntries: Readonly<Record<string, Entry>> = {
  claim: { ...header, body: { kind: 'claim', clusterId: 'c-Zażółć' } },
  batch: {
    ...header,
    number: 301,
    body: { kind: 'batch', commandIds: ['cmd-1', 'cmd-2'] as CommandId[], sections: [first, second] },
  },
  snapshot: {
    ...header,
    number: 70_000,
    body: {
      kind: 'snapshot',
      manifest: 'KV_3/manifest/0000000000000301',
      digest: new Uint8Array(32).fill(0xab),
      coveredNumber: 301,
    },
  },
};

export const goldenManifest: Manifest = {
  shard,
  clusterId: 'c-1',
  head: { number: 301, hash: new Uint8Array(32).fill(1), epoch: 7, clockMs: 1_790_000_000_123, position: 305 },
  partitions: [
    {
      name: first.partition,
      index: 1,
      hash: new Uint8Array(32).fill(2),
      keys: 1,
      digest: '00112233445566778899aabbccddeeff',
      segments: [
        { object: 'KV_3/segment/0000000000000301-0123456789abcdef-0', bytes: 41, sha256: new Uint8Array(32).fill(3) },
      ],
    },
    {
      name: second.partition,
      index: 4_294_967_296,
      hash: new Uint8Array(32).fill(4),
      keys: 0,
      digest: '0'.repeat(32),
      segments: [],
    },
  ],
  recentCommandIds: [
    ['cmd-1' as CommandId, 1_790_000_000_100],
    ['cmd-2' as CommandId, 1_790_000_000_123],
  ],
  createdAtMs: 1_790_000_001_000,
  headStoredAtMs: 1_790_000_000_130,
  journalBytes: 12_345_678_901,
};
