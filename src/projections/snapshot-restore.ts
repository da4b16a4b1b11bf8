/**
 * Restores a read model from the newest snapshot when the front of the journal was removed before it was folded. The
 * DLQ list, pending messages, active runs and resumable runs are then complete; older events of the log are lost. An
 * interrupted restore starts again, because the checkpoint moves only at the end.
 */
import { decodeQueueEvents } from '../codec/queue/index.js';
import type { BodyRef, QueueEvent } from '../domain/queue/index.js';
import { SnapshotStore } from '../journal/index.js';
import type { AccountId, ShardName } from '../kernel/index.js';
import type { Log, ObjectStore, Timers } from '../ports/index.js';
import {
  isQueuePartition,
  type ManifestPartition,
  parseQueuePartition,
  queuePartition,
  shardOf,
} from '../protocol/index.js';
import type { Checkpoint } from './checkpoint.js';
import type { MessageLogStore } from './message-log/index.js';
import type { FollowedJournal } from './shared-journal.js';

/** Bodies stored next to a snapshot. */
interface SnapshotBodies {
  /** @throws JOURNAL_DAMAGED if the body is missing */
  read(shard: ShardName, partition: ManifestPartition['name'], number: number, at: undefined): Promise<Uint8Array>;
}

export interface RestorePorts {
  readonly journal: FollowedJournal;
  readonly objects: ObjectStore;
  readonly bodies: SnapshotBodies;
  readonly timers: Timers;
  readonly log: Log;
}

/** Events and body bytes of one transaction. */
const STEP_EVENTS = 500;
const STEP_BODY_BYTES = 4 * 1024 * 1024;

/**
 * @returns the checkpoint after the snapshot or, without a snapshot, at the first message left in the journal
 * @throws JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED
 */
export async function restoreFromSnapshot(
  ports: RestorePorts,
  store: MessageLogStore,
  shard: ShardName,
  shardCount: number,
): Promise<Checkpoint> {
  const snapshots = new SnapshotStore(ports.objects, ports.log);
  const stored = await snapshots.newest(shard);
  const { first, createdAt } = await ports.journal.tail(shard);
  const nothing = { createdAt, position: first - 1, entry: 0, hash: new Uint8Array(), clockMs: 0, hasGap: true };
  if (stored === undefined) {
    ports.log.warn('read-model.incomplete', {
      shard,
      first,
      reason: 'the first entries of the journal were removed, and no snapshot',
    });
    return nothing;
  }
  const { head, partitions } = stored.manifest;
  ports.log.warn('read-model.incomplete', {
    shard,
    first,
    reason: 'the first entries of the journal were removed',
    from: head.position,
  });
  const named = new Map(partitions.map((partition) => [partition.name, partition]));
  const known = store.accounts().map(queuePartition);
  const all = new Set([...named.keys(), ...known.filter((name) => shardOf('queue', name, shardCount) === shard)]);
  for (const name of all) {
    if (!isQueuePartition(name)) continue;
    const account = parseQueuePartition(name);
    store.clear(account);
    const partition = named.get(name);
    if (partition !== undefined) await restorePartition(ports, snapshots, store, shard, partition);
    await dropGone(ports, store, account);
  }
  const { position, number, hash, clockMs } = head;
  return { createdAt, position, entry: number, hash, clockMs, hasGap: true };
}

async function restorePartition(
  ports: RestorePorts,
  snapshots: SnapshotStore,
  store: MessageLogStore,
  shard: ShardName,
  partition: ManifestPartition,
): Promise<void> {
  const account = parseQueuePartition(partition.name);
  let events: QueueEvent[] = [];
  let bodies = new Map<number, Uint8Array>();
  let bodyBytes = 0;
  const write = async () => {
    store.restore(account, events, bodies);
    events = [];
    bodies = new Map();
    bodyBytes = 0;
    await ports.timers.yieldToEventLoop();
  };
  for await (const bytes of snapshots.segmentBytes(partition)) {
    for (const event of decodeQueueEvents(bytes)) {
      for (const { number } of bodiesOf(event)) {
        if (number === 0 || bodies.has(number) || !store.lacksBody(account, number)) continue;
        const content = await ports.bodies.read(shard, partition.name, number, undefined);
        bodies.set(number, content);
        bodyBytes += content.length;
        // Bodies are written before their event if it has many: those of one run may exceed the memory.
        if (bodyBytes >= STEP_BODY_BYTES) await write();
      }
      events.push(event);
      if (events.length >= STEP_EVENTS || bodyBytes >= STEP_BODY_BYTES) await write();
    }
  }
  await write();
}

function bodiesOf(event: QueueEvent): readonly BodyRef[] {
  switch (event.type) {
    case 'MessageRestored':
      return event.status === 'delivered' ? [] : [event.body];
    case 'DlqRestored':
      return [event.entry.body, event.entry.response.body];
    case 'ScheduleRestored':
      return [event.schedule.body];
    case 'RunRestored':
      return [...event.entries.map(({ body }) => body), ...(event.failureFunction ? [event.failureFunction.body] : [])];
    case 'RunEntriesRestored':
      return event.entries.map(({ body }) => body);
    default:
      return [];
  }
}

async function dropGone(ports: RestorePorts, store: MessageLogStore, account: AccountId): Promise<void> {
  const steps = [
    (after: number) => store.dropGone(account, after),
    (after: number) => store.dropGoneRuns(account, after),
    (after: number) => store.dropUnusedBodies(account, after),
  ];
  for (const step of steps) {
    let after: number | undefined = 0;
    while (after !== undefined) {
      after = step(after);
      await ports.timers.yieldToEventLoop();
    }
  }
}
