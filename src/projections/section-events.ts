/**
 * The decoded events of a queue's section, shared by all read models of a thread: decoded once and kept while the
 * section is referenced.
 */
import { decodeQueueEvents } from '../codec/queue/index.js';
import type { QueueEvent } from '../domain/queue/index.js';
import { getOrCreate } from '../kernel/index.js';
import type { Section } from '../protocol/index.js';

/** Longer sections are decoded one event at a time by each model: all their events would be several MB of objects. */
const LONG_SECTION_BYTES = 256 * 1024;
const decoded = new WeakMap<Section, readonly QueueEvent[]>();

/** @throws JOURNAL_DAMAGED for unknown events */
export function queueEventsOf(section: Section): Iterable<QueueEvent> {
  const { effects } = section;
  if (effects.length > LONG_SECTION_BYTES) return decodeQueueEvents(effects);
  return getOrCreate(decoded, section, () => [...decodeQueueEvents(effects)]);
}
