/**
 * Logs with many writers on JetStream: one stream each. A message is published once, with its acknowledgement and
 * without an expectation. They are followed like journals.
 */
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { IntakeLog, Journal, JournalFollower, MeterLog, Subscription } from '../../ports/index.js';
import { intakeOf, METER_SHARD } from '../../protocol/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { JetStreamJournal } from './jetstream-journal.js';
import type { NatsLink } from './link.js';
import { publishOnce } from './publish-once.js';
import type { Names } from './subjects.js';

/** A publisher waits five seconds at most, and may try twice. */
const INTAKE_TIMEOUT_MS = 2000;
/** The same as for a journal. */
const METER_TIMEOUT_MS = 5000;

/** The intakes of the queue's shards. Their appends share the journal's connection, because publishes wait for them. */
export class JetStreamIntakeLog implements IntakeLog {
  readonly #control: JetStreamApi;

  /** @param journal of the same connections: following is the same for every stream */
  constructor(
    private readonly connections: NatsConnections,
    private readonly names: Names,
    private readonly journal: Pick<Journal, 'follow'> = new JetStreamJournal(connections, names),
  ) {
    this.#control = new JetStreamApi(connections.control);
  }

  append(shard: ShardName, bytes: Uint8Array): Promise<void> {
    const record = { log: intakeOf(shard), bytes, kind: 'a publish', timeoutMs: INTAKE_TIMEOUT_MS };
    return append(this.connections.appends, this.names, record);
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    return this.journal.follow(intakeOf(shard), from, follower);
  }

  async trim(shard: ShardName, position: number): Promise<void> {
    const stream = this.names.journalStream(intakeOf(shard));
    const { state } = await this.#control.ask(({ streams }) => streams.info(stream));
    // A purge beyond the end would move the end (IL3: positions never fall); one directly after it empties the
    // stream and keeps its end.
    const upTo = Math.min(position, state.last_seq);
    if (state.messages > 0 && upTo >= state.first_seq) await this.#control.purge(stream, { seq: upTo + 1 });
  }
}

/** The meter's log. It uses the control connection, so that its records do not delay appends. */
export class JetStreamMeterLog implements MeterLog {
  /** @param journal of the same connections */
  constructor(
    private readonly connections: NatsConnections,
    private readonly names: Names,
    private readonly journal: Pick<Journal, 'follow'> = new JetStreamJournal(connections, names),
  ) {}

  append(bytes: Uint8Array): Promise<void> {
    const record = { log: METER_SHARD, bytes, kind: 'a meter record', timeoutMs: METER_TIMEOUT_MS };
    return append(this.connections.control, this.names, record);
  }

  follow(from: number, follower: JournalFollower): Subscription {
    return this.journal.follow(METER_SHARD, from, follower);
  }
}

interface LogRecord {
  readonly log: ShardName;
  readonly bytes: Uint8Array;
  /** For errors. */
  readonly kind: string;
  readonly timeoutMs: number;
}

/** @throws JOURNAL_UNAVAILABLE, with `isStored: false` if that is known */
async function append(link: NatsLink, names: Names, { log, bytes, kind, timeoutMs }: LogRecord): Promise<void> {
  const publication = { subject: names.journalSubject(log), stream: names.journalStream(log), bytes, timeoutMs };
  const outcome = await publishOnce(link, publication);
  if (outcome.kind === 'stored') return;
  const cause = outcome.kind === 'unknown' ? outcome.cause : undefined;
  const isRefused = outcome.kind === 'rejected';
  const reason = isRefused ? outcome.reason : 'nobody knows';
  const details = isRefused ? { log, isStored: false } : { log };
  throw new MillraceError('JOURNAL_UNAVAILABLE', `${kind} was not stored: ${reason}`, details, cause);
}
