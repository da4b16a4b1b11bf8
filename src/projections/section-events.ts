/**
 * The queues' sections of entries. Their decoded events are shared by all read models of a thread: decoded once and
 * kept while the section is referenced.
 */
import type { ReadEntry } from '../codec/envelope/index.js';
import { decodeQueueEvents } from '../codec/queue/index.js';
import type { QueueEvent } from '../domain/queue/index.js';
import { type AccountId, getOrCreate } from '../kernel/index.js';
import { entrySections, isQueuePartition, parseQueuePartition, type Section } from '../protocol/index.js';
import type { Checkpoint } from './checkpoint.js';

/** Longer sections are decoded one event at a time by each model: all their events would be several MB of objects. */
const LONG_SECTION_BYTES = 256 * 1024;
const decoded = new WeakMap<Section, readonly QueueEvent[]>();

export interface QueueSection {
  readonly account: AccountId;
  /** The section's number in its partition. */
  readonly index: number;
  /** The number of its entry. */
  readonly entry: number;
  readonly events: Iterable<QueueEvent>;
}

/**
 * Folds the queues' sections of entries after the checkpoint, each once.
 * @returns the new checkpoint
 * @throws JOURNAL_DAMAGED for unknown events
 */
export function foldQueueSections<At extends Checkpoint>(
  entries: readonly ReadEntry[],
  before: At,
  fold: (section: QueueSection) => void,
): At {
  let after = before;
  for (const { entry, hash, position } of entries) {
    if (entry.number <= after.entry) continue;
    for (const section of entrySections(entry)) {
      const { partition, index } = section;
      if (!isQueuePartition(partition)) continue;
      fold({ account: parseQueuePartition(partition), index, entry: entry.number, events: queueEventsOf(section) });
    }
    after = { ...after, position, entry: entry.number, hash, clockMs: entry.clockMs };
  }
  return after;
}

function queueEventsOf(section: Section): Iterable<QueueEvent> {
  const { effects } = section;
  if (effects.length > LONG_SECTION_BYTES) return decodeQueueEvents(effects);
  return getOrCreate(decoded, section, () => [...decodeQueueEvents(effects)]);
}
