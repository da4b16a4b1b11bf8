/**
 * The journal on JetStream: a stream for each shard, fenced by the last position of that stream.
 *
 *  JJ1 an append is one publish with the expected last position; it is not repeated here
 *  JJ2 streams are never made here: a missing one is JOURNAL_DAMAGED
 *  JJ3 a journal is cut only at its front and never emptied
 */
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type {
  AppendOutcome,
  Journal,
  JournalFollower,
  JournalTail,
  StoredMessage,
  Subscription,
} from '../../ports/index.js';
import type { NatsConnections } from './connection.js';
import { JETSTREAM_ERRORS, JetStreamApi, refusalOf } from './jetstream-api.js';
import { publishOnce } from './publish-once.js';
import { StreamFollower } from './stream-follower.js';
import { readStream } from './stream-reader.js';
import type { Names } from './subjects.js';

export interface JetStreamJournalOptions {
  /**
   * One try of an append ends as `unknown` after this time, and reading its position fails. Default 1 s: an election
   * takes longer, and the owner then tries again.
   */
  readonly appendTimeoutMs?: number;
  /** A read without progress for this long fails. Default 15 s: longer than an election and a reconnect. */
  readonly readTimeoutMs?: number;
}

const DEFAULT_APPEND_TIMEOUT_MS = 1000;
const DEFAULT_READ_TIMEOUT_MS = 15_000;
/** Each sign of life costs an idle process some 30 µs and its server as much, for each stream and thread that follows. */
const DEFAULT_ALIVE_EVERY_MS = 1250;
/** The server sends a heartbeat after one to two times its interval, and half an interval is for transport. */
const HEARTBEATS_BETWEEN = 2.5;
/** The same from an own server: it is asked, and all followers are told immediately. */
const OWN_ALIVE_EVERY_MS = 2000;
/** A subscription that an own server lost silently, which it never does, is noticed after five of these. */
const OWN_HEARTBEAT_MS = 30_000;
/**
 * So few messages are read one by one from the stream's leader. A consumer is created by the leader of all servers, and
 * is created again only after seconds when that request is lost.
 */
const FEW_MESSAGES = 8;
/** About two milliseconds of parsing, or one of the largest messages. */
const READ_ROUND = { messages: 1000, bytes: 1024 * 1024 };

export class JetStreamJournal implements Journal {
  readonly #control: JetStreamApi;
  readonly #looks: JetStreamApi;
  readonly #reads: JetStreamApi;
  readonly #appendTimeoutMs: number;
  readonly #readTimeoutMs: number;

  constructor(
    private readonly connections: NatsConnections,
    private readonly names: Names,
    options: JetStreamJournalOptions = {},
  ) {
    this.#control = new JetStreamApi(connections.control);
    this.#reads = new JetStreamApi(connections.reads);
    this.#appendTimeoutMs = options.appendTimeoutMs ?? DEFAULT_APPEND_TIMEOUT_MS;
    this.#looks = new JetStreamApi(connections.control, this.#appendTimeoutMs);
    this.#readTimeoutMs = options.readTimeoutMs ?? DEFAULT_READ_TIMEOUT_MS;
  }

  append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome> {
    return publishOnce(this.connections.appends, {
      subject: this.names.journalSubject(shard),
      stream: this.names.journalStream(shard),
      bytes,
      expectedLast,
      timeoutMs: this.#appendTimeoutMs,
    });
  }

  async readAt(shard: ShardName, position: number): Promise<Uint8Array | undefined> {
    if (position < 1) return undefined;
    const found = await this.#ask(shard, () => this.#looks.message(this.names.journalStream(shard), { seq: position }));
    return found?.data;
  }

  read(shard: ShardName, from: number, to: number): AsyncGenerator<StoredMessage> {
    return to - from < FEW_MESSAGES ? this.#readFew(shard, from, to) : this.#readByConsumer(shard, from, to);
  }

  async *#readFew(shard: ShardName, from: number, to: number): AsyncGenerator<StoredMessage> {
    let next = from;
    for (; next <= to; next += 1) {
      const message = await this.#fromLeader(shard, next);
      if (message === undefined) break;
      yield message;
    }
    if (next <= to) yield* this.#readByConsumer(shard, next, to);
  }

  /** Undefined when the stream's leader does not answer soon, or does not have the message. */
  async #fromLeader(shard: ShardName, position: number): Promise<StoredMessage | undefined> {
    const found = await this.#looks.message(this.names.journalStream(shard), { seq: position }).catch(() => undefined);
    return found && { position: found.seq, bytes: found.data, storedAtMs: found.time.getTime() };
  }

  async *#readByConsumer(shard: ShardName, from: number, to: number): AsyncGenerator<StoredMessage> {
    const stream = this.names.journalStream(shard);
    const options = { stream, from, round: READ_ROUND, timeoutMs: this.#readTimeoutMs, name: shard };
    let next = from;
    try {
      for await (const messages of readStream(this.#reads, options)) {
        for (const message of messages) {
          if (message.position !== next) {
            const details = { shard, expected: next, found: message.position };
            throw new MillraceError('JOURNAL_DAMAGED', `${shard}: messages are missing in the journal`, details);
          }
          yield message;
          next += 1;
          if (next > to) return;
        }
      }
    } catch (error) {
      throw missingOr(shard, error);
    }
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    const { serverPing } = this.connections;
    const { aliveEveryMs = serverPing === undefined ? DEFAULT_ALIVE_EVERY_MS : OWN_ALIVE_EVERY_MS } = follower;
    const heartbeatMs = serverPing === undefined ? aliveEveryMs / HEARTBEATS_BETWEEN : OWN_HEARTBEAT_MS;
    const isAlive = serverPing && { serverPing, everyMs: aliveEveryMs };
    const options = { stream: this.names.journalStream(shard), from, heartbeatMs, isAlive };
    return new StreamFollower(this.#reads, options, {
      onMessage: (message) => follower.onMessage(message),
      onHeartbeat: () => follower.onAlive(),
    });
  }

  async tail(shard: ShardName): Promise<JournalTail> {
    const { state, created } = await this.#ask(shard, () =>
      this.#control.ask(({ streams }) => streams.info(this.names.journalStream(shard), { deleted_details: false })),
    );
    const last = state.last_seq;
    const first = state.messages === 0 ? last + 1 : state.first_seq;
    const absent = last - first + 1 - state.messages;
    return { first, last, bytes: state.bytes, holes: Math.max(absent, state.num_deleted ?? 0), createdAt: created };
  }

  async truncateFront(shard: ShardName, keepFrom: number): Promise<void> {
    const stream = this.names.journalStream(shard);
    await this.#ask(shard, async () => {
      // A purge beyond the end would empty the journal and move its end.
      const kept = keepFrom < 1 ? undefined : await this.#control.message(stream, { seq: keepFrom });
      if (kept === undefined) {
        const message = 'a journal is only cut below a position that is stored';
        throw new MillraceError('INVALID', message, { shard, keepFrom });
      }
      await this.#control.purge(stream, { seq: keepFrom });
    });
  }

  async #ask<T>(shard: ShardName, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      throw missingOr(shard, error);
    }
  }
}

function missingOr(shard: ShardName, error: unknown): unknown {
  if (refusalOf(error)?.code !== JETSTREAM_ERRORS.streamNotFound) return error;
  return new MillraceError('JOURNAL_DAMAGED', 'the stream of the journal does not exist', { shard }, error);
}
