/**
 * A database or queue account at a moment: its partitions replayed from all their shards, with the facts about each.
 */
import type { QueuePartitionFold } from '../actors/queue/index.js';
import { decodeQueueEvents } from '../codec/queue/index.js';
import type { AuditPorts, ChainHead, DiffOptions, ReplayOptions, ShardDiff } from '../journal/index.js';
import { diffShard, type PartitionFold, ShardReplay } from '../journal/index.js';
import { MillraceError, type PartitionName, type Random, type ShardName } from '../kernel/index.js';
import type { Clock } from '../ports/index.js';
import type { Moment } from '../protocol/index.js';
import { countingQueueFold, keyedKvFold } from './folds/index.js';
import type { KvKeyedFold } from './keyed-fold.js';

export interface ReplayPorts extends AuditPorts {
  readonly clock: Clock;
  readonly random: Random;
}

export type PartitionsByShard = ReadonlyMap<ShardName, readonly PartitionName[]>;

/** The state of a shard at the requested moment. */
interface ReplayedShard {
  readonly shard: ShardName;
  readonly head: ChainHead;
  /** The name of the snapshot from which the replay started; undefined: the start of the journal. */
  readonly snapshot: string | undefined;
  /** Entries replayed after it. */
  readonly entries: number;
}

export interface ReplayedPart<F> {
  readonly partition: PartitionName;
  readonly fold: F;
  /** The position of the last applied entry of its shard. */
  readonly position: number;
  /** The index of its last section; 0 if there is none. */
  readonly index: number;
  readonly hash: Uint8Array;
}

export interface Replayed<F> {
  /** The time that decides expiry. */
  readonly atMs: number;
  readonly shards: readonly ReplayedShard[];
  readonly parts: readonly ReplayedPart<F>[];
}

/**
 * @throws INVALID for a moment that is not retained or is in the future; JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE,
 * SHUTTING_DOWN
 */
export function replayDatabase(
  ports: ReplayPorts,
  places: PartitionsByShard,
  at: Moment,
  options: ReplayOptions = {},
): Promise<Replayed<KvKeyedFold>> {
  let atMs = 0;
  const createFold = () => keyedKvFold(ports.random, () => atMs);
  return replayed(ports, places, at, createFold, options).then((database) => {
    atMs = database.atMs;
    return database;
  });
}

/** @throws as `replayDatabase` */
export function replayQueue(
  ports: ReplayPorts,
  places: PartitionsByShard,
  at: Moment,
  options: ReplayOptions = {},
): Promise<Replayed<QueuePartitionFold>> {
  return replayed(ports, places, at, countingQueueFold, options);
}

async function replayed<F extends PartitionFold>(
  ports: ReplayPorts,
  places: PartitionsByShard,
  at: Moment,
  createFold: () => F,
  options: ReplayOptions,
): Promise<Replayed<F>> {
  refuseFuture(ports.clock, at);
  const shards: ReplayedShard[] = [];
  const parts: ReplayedPart<F>[] = [];
  for (const [shard, partitions] of places) {
    const replay = await ShardReplay.open(ports, { shard, partitions, foldFactory: createFold }, at, options);
    await replay.close();
    const { head, base, entries, folds } = replay;
    shards.push({ shard, head, snapshot: base?.name, entries });
    for (const [partition, fold] of folds) {
      const { number: index, hash } = replay.link(partition);
      parts.push({ partition, fold, position: head.position, index, hash });
    }
  }
  const atMs = at.kind === 'time' ? at.atMs : Math.max(...shards.map(({ head }) => head.clockMs));
  return { atMs, shards, parts };
}

/** The changes, one shard at a time. @throws as `diffShard`, and INVALID for a moment in the future */
export async function* diffDatabase(
  ports: ReplayPorts,
  places: PartitionsByShard,
  range: { readonly from: Moment; readonly to: Moment },
  options: DiffOptions = {},
): AsyncGenerator<readonly [ShardName, ShardDiff]> {
  refuseFuture(ports.clock, range.from);
  refuseFuture(ports.clock, range.to);
  const foldFactory = () => keyedKvFold(ports.random, () => 0);
  for (const [shard, partitions] of places) {
    yield [shard, await diffShard(ports, { shard, partitions, foldFactory }, range, options)];
  }
}

/** A moment in the future has no state yet. */
function refuseFuture(clock: Clock, moment: Moment): void {
  if (moment.kind === 'position' || moment.atMs <= clock.nowMs()) return;
  throw new MillraceError('INVALID', `${new Date(moment.atMs).toISOString()} has not come yet`);
}

export interface QueueCounts {
  /** Messages not yet delivered, failed or cancelled. */
  messages: number;
  /** Includes failed runs. */
  dlq: number;
  schedules: number;
  queues: number;
  groups: number;
  /** Workflow runs in progress. */
  runs: number;
}

export function countsOf(fold: QueuePartitionFold): QueueCounts {
  const counts: QueueCounts = { messages: 0, dlq: 0, schedules: 0, queues: 0, groups: 0, runs: 0 };
  for (const segment of fold.segments(SEGMENT_BYTES)) {
    for (const event of decodeQueueEvents(segment)) {
      if (event.type === 'MessageRestored' && event.status !== 'delivered') counts.messages += 1;
      else if (event.type === 'DlqRestored') counts.dlq += 1;
      else if (event.type === 'ScheduleRestored') counts.schedules += 1;
      else if (event.type === 'QueueRestored') counts.queues += 1;
      else if (event.type === 'GroupRestored') counts.groups += 1;
      else if (event.type === 'RunRestored') counts[event.dlqId === undefined ? 'runs' : 'dlq'] += 1;
    }
  }
  return counts;
}

const SEGMENT_BYTES = 1024 * 1024;
