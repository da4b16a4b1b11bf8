/** The parts of a queue account's state. Only events change them, through `QueueState.evolve`. */

import type { QueueEvent, QueueEventOf } from '../events.js';
import { AcceptedIds } from '../messages/accepted-ids.js';
import { Bodies, type BodySink } from '../messages/bodies.js';
import { DeadLetters } from '../messages/dead-letters.js';
import { DeduplicationWindow } from '../messages/deduplication-window.js';
import { DlqEntries } from '../messages/dlq-entries.js';
import { Envelopes } from '../messages/envelopes.js';
import { Messages } from '../messages/messages.js';
import type { Envelope } from '../records.js';
import { Runs } from '../runs/runs.js';
import { Applications } from './applications.js';
import { Breakers } from './breakers.js';
import type { DispatchHooks } from './dispatch-hooks.js';
import { FlowKeys } from './flow-keys.js';
import { Groups } from './groups.js';
import { type OrderedQueue, OrderedQueues } from './ordered-queues.js';
import { Schedules } from './schedules.js';
import { MessageUsage } from './usage.js';

/** Sources that are remembered; the one that was used the longest ago is forgotten first. */
const MAX_SOURCES = 10_000;
const NOTHING = 0;

/**
 * How far the outboxes of databases were accepted: the last sequence of each source. A source is a partition of a
 * database. Sequences only grow, also across restores of a database (docs/decisions/queue.md).
 */
class TakenSequences {
  readonly #sequences = new Map<string, number>();

  /** 0: no record of this source was accepted. */
  of(source: string): number {
    return this.#sequences.get(source) ?? NOTHING;
  }

  take({ source, sequence }: QueueEventOf<'OutboxTaken'>): void {
    this.#sequences.delete(source);
    this.#sequences.set(source, sequence);
    if (this.#sequences.size <= MAX_SOURCES) return;
    const [oldest] = this.#sequences.keys();
    if (oldest !== undefined) this.#sequences.delete(oldest);
  }

  /** For snapshots, the source used the longest ago first. */
  *rebuildingEvents(atMs: number): Iterable<QueueEvent> {
    for (const [source, sequence] of this.#sequences) yield { type: 'OutboxTaken', source, sequence, atMs };
  }
}

export class AccountParts {
  readonly envelopes = new Envelopes();
  readonly messages = new Messages();
  readonly acceptedIds = new AcceptedIds();
  readonly deduplication = new DeduplicationWindow();
  readonly flows = new FlowKeys();
  readonly queues = new OrderedQueues();
  /** DLQ entries of plain messages; `runs` has those of runs. */
  readonly dlq = new DlqEntries();
  readonly breakers = new Breakers();
  readonly groups = new Groups();
  readonly applications = new Applications();
  readonly usage = new MessageUsage();
  readonly bodies: Bodies;
  readonly schedules: Schedules;
  readonly runs: Runs;
  readonly deadLetters: DeadLetters;
  /** Memory of runs in bytes, without their messages. */
  runMemoryBytes = 0;
  /** The time of the latest event. */
  nowMs = 0;
  nextOrder = 1;
  intakePosition = 0;
  readonly outboxes = new TakenSequences();
  /** Undefined while a journal is replayed. */
  dispatch: DispatchHooks | undefined;

  constructor(sink: BodySink) {
    const bodies = new Bodies(sink);
    this.bodies = bodies;
    this.schedules = new Schedules(this.groups, bodies);
    this.runs = new Runs({
      holdBody: (body) => bodies.hold(body),
      takeBody: (body) => bodies.take(body),
      storeBody: (body) => bodies.store(body),
      dropBody: (body) => bodies.drop(body),
      holdEnvelope: (envelope) => this.envelopes.hold(envelope),
      dropEnvelope: (shared) => this.envelopes.release(shared),
      dropEnvelopeOf: (envelope) => this.envelopes.releaseOf(envelope),
      restsForMs: (message) => Math.max(0, (this.messages.restsUntilMs(message) ?? 0) - this.nowMs),
      restBody: ({ number }) => bodies.rest(number),
      weigh: (bytes) => {
        this.runMemoryBytes += bytes;
      },
    });
    this.deadLetters = new DeadLetters(this.dlq, this.runs.dlq);
  }

  queueOf({ queueName }: Envelope): OrderedQueue | undefined {
    return queueName === undefined ? undefined : this.queues.get(queueName);
  }
}
