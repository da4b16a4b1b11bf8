/**
 * The intake of the queue's shards on JetStream: for each a stream beside its journal, written without an
 * expectation. Appends share the connection of the journal's appends: a publish is waiting for them.
 */
import { MillraceError, type ShardName } from '../../kernel/index.js';
import { intakeOf } from '../../messages/index.js';
import type { IntakeLog, Journal, JournalFollower, Subscription } from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { isRefusal, JetStreamApi } from './jetstream-api.js';
import { JetStreamJournal } from './jetstream-journal.js';
import { journalUnavailable } from './link.js';
import { publishOnce } from './publish-once.js';
import type { Names } from './subjects.js';

export interface JetStreamIntakeLogOptions {
  /** One try ends unknown after this. Default 2 s: whoever publishes waits 5 s at most, and may try twice. */
  readonly appendTimeoutMs?: number;
}

const DEFAULT_APPEND_TIMEOUT_MS = 2000;

export class JetStreamIntakeLog implements IntakeLog {
  readonly #connections: NatsConnections;
  readonly #names: Names;
  readonly #control: JetStreamApi;
  readonly #journal: Pick<Journal, 'follow'>;
  readonly #appendTimeoutMs: number;

  /** @param journal of the same connections: following is the same for every stream */
  constructor(
    connections: NatsConnections,
    names: Names,
    journal: Pick<Journal, 'follow'> = new JetStreamJournal(connections, names),
    { appendTimeoutMs = DEFAULT_APPEND_TIMEOUT_MS }: JetStreamIntakeLogOptions = {},
  ) {
    this.#connections = connections;
    this.#names = names;
    this.#control = new JetStreamApi(connections.control);
    this.#journal = journal;
    this.#appendTimeoutMs = appendTimeoutMs;
  }

  async append(shard: ShardName, bytes: Uint8Array): Promise<void> {
    const intake = intakeOf(shard);
    const outcome = await publishOnce(this.#connections.appends, {
      subject: this.#names.journalSubject(intake),
      stream: this.#names.journalStream(intake),
      bytes,
      timeoutMs: this.#appendTimeoutMs,
    });
    if (outcome.kind === 'stored') return;
    const cause = outcome.kind === 'unknown' ? outcome.cause : undefined;
    const isRefused = outcome.kind === 'rejected' || outcome.kind === 'busy';
    const reason = isRefused ? outcome.reason : 'nobody knows';
    const details = isRefused ? { intake, isStored: false } : { intake };
    throw new MillraceError('JOURNAL_UNAVAILABLE', `a publish was not stored: ${reason}`, details, cause);
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    return this.#journal.follow(intakeOf(shard), from, follower);
  }

  async trim(shard: ShardName, position: number): Promise<void> {
    const stream = this.#names.journalStream(intakeOf(shard));
    try {
      const { state } = await this.#control.streamInfo(stream);
      // A purge beyond the end would move the end (IL3); one right behind it empties the stream and leaves its end.
      const upTo = Math.min(position, state.last_seq);
      if (state.messages > 0 && upTo >= state.first_seq) await this.#control.purge(stream, { seq: upTo + 1 });
    } catch (error) {
      throw isRefusal(error) ? journalUnavailable(error, { shard }) : error;
    }
  }
}
