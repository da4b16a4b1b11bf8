/**
 * The events of a queue's section, as every read model of a thread folds them: decoded by the first of them, and there for
 * the next for as long as somebody has the entry.
 */
import { decodeQueueEvents } from '../codec/queue/index.js';
import type { QueueEvent } from '../domain/queue/index.js';
import { obtain } from '../kernel/index.js';
import type { Section } from '../messages/index.js';

/** Of longer sections all events at once would be some MB of objects: they are decoded one by one, by each. */
const LONG_SECTION_BYTES = 256 * 1024;
const decoded = new WeakMap<Section, readonly QueueEvent[]>();

/** @throws JOURNAL_DAMAGED for what is not known here */
export function queueEventsOf(section: Section): Iterable<QueueEvent> {
  const { effects } = section;
  if (effects.length > LONG_SECTION_BYTES) return decodeQueueEvents(effects);
  return obtain(decoded, section, () => [...decodeQueueEvents(effects)]);
}
