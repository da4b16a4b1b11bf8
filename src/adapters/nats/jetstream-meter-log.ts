/**
 * The meter's log on JetStream: a publish with its acknowledgement and without an expectation. It uses the
 * connection for questions, not the one for appends: what is counted must not wait in front of what is written.
 */
import { MillraceError } from '../../kernel/index.js';
import type { Journal, JournalFollower, MeterLog, Subscription } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamJournal } from './jetstream-journal.js';
import { type PublishOutcome, publishOnce } from './publish-once.js';
import { METER_SHARD } from './streams.js';
import type { Names } from './subjects.js';

export interface JetStreamMeterLogOptions {
  /** One try ends unknown after this. Default 5 s, as for a journal. */
  readonly appendTimeoutMs?: number;
}

const DEFAULT_APPEND_TIMEOUT_MS = 5000;

export class JetStreamMeterLog implements MeterLog {
  readonly #connections: NatsConnections;
  readonly #names: Names;
  readonly #journal: Pick<Journal, 'follow'>;
  readonly #appendTimeoutMs: number;

  /** @param journal of the same connections: following is the same for every stream */
  constructor(
    connections: NatsConnections,
    names: Names,
    journal: Pick<Journal, 'follow'> = new JetStreamJournal(connections, names),
    { appendTimeoutMs = DEFAULT_APPEND_TIMEOUT_MS }: JetStreamMeterLogOptions = {},
  ) {
    this.#connections = connections;
    this.#names = names;
    this.#journal = journal;
    this.#appendTimeoutMs = appendTimeoutMs;
  }

  async append(bytes: Uint8Array): Promise<void> {
    const outcome = await publishOnce(this.#connections.control, {
      subject: this.#names.journalSubject(METER_SHARD),
      stream: this.#names.journalStream(METER_SHARD),
      bytes,
      timeoutMs: this.#appendTimeoutMs,
    });
    if (outcome.kind === 'stored') return;
    const [why, cause] = outcome.kind === 'unknown' ? ['nobody knows', outcome.cause] : [refusalOf(outcome), undefined];
    throw new MillraceError('JOURNAL_UNAVAILABLE', `a meter record was not stored: ${why}`, {}, cause);
  }

  follow(from: number, follower: JournalFollower): Subscription {
    return this.#journal.follow(METER_SHARD, from, follower);
  }
}

function refusalOf(outcome: Exclude<PublishOutcome, { kind: 'stored' | 'unknown' }>): string {
  return outcome.kind === 'conflict' ? 'another position was expected' : outcome.reason;
}
