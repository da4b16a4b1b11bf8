/**
 * An account's queue as one value: what its journal adds up to. `evolve` is the only way to change it.
 *
 *  QST1 `evolve` is total over events that were ever journaled, judges nothing, and asserts where one cannot fit
 *  QST2 two states that applied the same events are equal, and so is one that was rebuilt from a snapshot between
 *  QST3 what grows old is forgotten by the times of events alone, some of it with each, so that no event takes long
 */
import { rowOfEvent } from '../event-table.js';
import type { QueueEvent } from '../events.js';
import { letGo } from '../messages/message-events.js';
import { AccountParts } from './account-parts.js';
import type { Held } from './held.js';
import { heldOf } from './held-account.js';

export class QueueState extends AccountParts {
  get size(): number {
    const { messages, groups, queues, schedules, flows, runs, deadLetters } = this;
    return messages.size + deadLetters.size + groups.size + queues.size + schedules.size + flows.size + runs.size;
  }

  heldAt(nowMs: number): Held {
    return heldOf(this, nowMs);
  }

  evolve(event: QueueEvent): void {
    if ('atMs' in event) this.#passTime(event.atMs);
    rowOfEvent(event).evolve(event, this);
  }

  #passTime(atMs: number): void {
    if (atMs > this.nowMs) this.nowMs = atMs;
    this.usage.turnTo(atMs);
    this.deduplication.forget(atMs);
    this.flows.forget(atMs);
    this.runs.forget(atMs);
    for (const message of this.messages.forget(atMs)) letGo(message, this);
  }
}
