/**
 * Memory of a million small hashes, compared with a redis-server that holds the same: heap after a collection, and resident
 * memory, both without those of the empty process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost, type Bench, type Figure } from './figures.js';
import { Millrace, PASSWORD } from './millrace.js';
import { RedisServer } from './redis.js';
import { RespLink } from './resp-link.js';
import { sized } from './sizes.js';

const HASHES = sized(1_000_000, 20_000);
const FIELDS = 5;
const HASHES_AT_ONCE = 1_000;
const PROGRESS_EVERY = 250_000;
/** After this time, young objects are collected and all writes are journaled. */
const SETTLE_MS = 2_000;
const MB = 1024 * 1024;
const TIMES = 4;

export const collections: Bench = {
  name: 'collections',
  summary: `memory of ${HASHES} hashes of ${FIELDS} fields beside redis-server`,
  async run(progress) {
    if (RedisServer.isMissing()) return { figures: [], skipped: ['collections: redis-server is not installed'] };
    const millrace = await Millrace.create();
    const redis = await RedisServer.start();
    try {
      const emptyRedis = await redis.usedMemory();
      await load('redis', redis.port, undefined, progress);
      const usedMemory = (await redis.usedMemory()) - emptyRedis;
      // Without snapshots: the compactor's memory is measured elsewhere.
      await millrace.start({ nodeFlags: ['--expose-gc'], env: { MILLRACE_SNAPSHOT_BYTES: '10GiB' } });
      const before = await millrace.probe('collect');
      await load('ours', millrace.respPort, PASSWORD, progress);
      await delay(SETTLE_MS);
      const after = await millrace.probe('collect');
      const heap = after.heapUsedBytes + after.externalBytes - before.heapUsedBytes - before.externalBytes;
      const resident = after.rssBytes - before.rssBytes;
      return { figures: figuresOf(heap, resident, usedMemory), skipped: [] };
    } finally {
      await Promise.all([millrace.dispose(), redis.dispose()]);
    }
  },
};

async function load(
  name: string,
  port: number,
  password: string | undefined,
  progress: (line: string) => void,
): Promise<void> {
  const link = await RespLink.open(port, password);
  try {
    for (let from = 0; from < HASHES; from += HASHES_AT_ONCE) {
      const commands: string[][] = [];
      for (let i = from; i < from + HASHES_AT_ONCE; i += 1) commands.push(hash(i));
      await link.pipeline(commands);
      const loaded = from + HASHES_AT_ONCE;
      if (loaded % PROGRESS_EVERY === 0) progress(`${name}: ${loaded} hashes`);
    }
  } finally {
    link.close();
  }
}

/** A record of a person: the same field names in all, different values. */
function hash(index: number): string[] {
  const number = String(index).padStart(9, '0');
  return [
    'HSET',
    `user:${number}`,
    ...['name', `name-${number}`],
    ...['mail', `${number}@example.org`],
    ...['visits', `${index % 1000}`],
    ...['seen', `17000${number}`],
    ...['state', index % 3 === 0 ? 'active' : 'idle'],
  ];
}

function figuresOf(heap: number, resident: number, usedMemory: number): readonly Figure[] {
  const note = (bytes: number) => `${(bytes / MB).toFixed(0)} MB beside ${(usedMemory / MB).toFixed(0)} MB`;
  const target = atMost(TIMES);
  return [
    { name: 'live heap / used_memory', value: heap / usedMemory, unit: 'ratio', target, note: note(heap) },
    { name: 'resident / used_memory', value: resident / usedMemory, unit: 'ratio', target, note: note(resident) },
    { name: '  live heap for one hash', value: heap / HASHES, unit: 'bytes' },
  ];
}
