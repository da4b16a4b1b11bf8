/**
 * Reads a stream from a position on, for reading from beginning to end: an ephemeral pull consumer, which is created
 * again after a gap, a silence or a reconnect.
 *
 *  OF4 positions only grow; none is read twice
 *  OF5 no message between two read ones was skipped: the server numbers deliveries, and a missing number starts a new
 *      consumer after the last read message
 *  OF6 one round is in memory, bounded in messages and bytes; the next one is requested when it was read. A push would
 *      arrive in bursts of megabytes, which the client parses in one step
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Msg } from 'nats';
import { MillraceError } from '../../kernel/index.js';
import type { StoredMessage } from '../../ports/index.js';
import { JETSTREAM_ERRORS, type JetStreamApi, refusalOf } from './jetstream-api.js';
import { jetStreamApiSubject, parseDelivery } from './subjects.js';

export interface ReadOptions {
  readonly stream: string;
  /** First position, from 1. */
  readonly from: number;
  /** One subject of a stream that has several. */
  readonly filterSubject?: string;
  /** OF6 */
  readonly round: { readonly messages: number; readonly bytes: number };
  /** A read without a message for this long fails. */
  readonly timeoutMs: number;
  /** The name of the contents, for errors. */
  readonly name: string;
}

/** A busy event loop or a slow disk may delay an answer; after this silence, or half the time, it counts as lost. */
const SILENCE_MS = 2500;
/** The pause before a reader at the stream's end, or without a consumer, asks again. */
const AT_END_MS = 50;
const RETRY_MS = 200;
/** Statuses that end a round: no more messages, or the next one would exceed the bounds. */
const NO_MORE = 404;
const ROUND_IS_FULL = 409;

/**
 * The messages as they arrive, some at a time.
 * @throws JOURNAL_UNAVAILABLE without a message in time, or without the stream
 */
export async function* readStream(
  api: JetStreamApi,
  options: ReadOptions,
): AsyncGenerator<readonly StoredMessage[], never> {
  const { stream, timeoutMs } = options;
  let next = Math.max(1, options.from);
  let readAtMs = performance.now();
  const leftMs = () => readAtMs + timeoutMs - performance.now();
  for (;;) {
    const rounds = await openRounds(api, options, next, leftMs());
    try {
      while (rounds?.isBroken === false && leftMs() > 0) {
        const messages = await rounds.take(Math.min(SILENCE_MS, timeoutMs / 2, leftMs()));
        const last = messages.at(-1);
        if (last !== undefined) {
          next = last.position + 1;
          yield messages;
          readAtMs = performance.now();
        }
      }
    } finally {
      rounds?.close();
    }
    if (leftMs() <= 0) {
      const message = `${options.name}: the journal stopped sending: no message within ${timeoutMs} ms`;
      throw new MillraceError('JOURNAL_UNAVAILABLE', message, { stream, next });
    }
    if (rounds === undefined) await pause(RETRY_MS);
  }
}

/** Undefined when the server did not create the consumer. @throws JOURNAL_UNAVAILABLE without the stream */
async function openRounds(
  api: JetStreamApi,
  options: ReadOptions,
  from: number,
  timeoutMs: number,
): Promise<Rounds | undefined> {
  const { stream, filterSubject } = options;
  const name = api.newConsumerName();
  const filter = filterSubject === undefined ? {} : { filter_subject: filterSubject };
  try {
    await api.createConsumer(stream, { name, opt_start_seq: from, ...filter }, timeoutMs);
    return new Rounds(api, name, options, from);
  } catch (error) {
    if (refusalOf(error)?.code === JETSTREAM_ERRORS.streamNotFound) throw error;
    return undefined;
  }
}

/** The rounds of one consumer. The client's functions bound messages or bytes, not both (docs/decisions/dependencies.md). */
class Rounds {
  /** After a gap, a silence or a reconnect: another consumer has to continue. */
  isBroken = false;
  readonly #inbox: string;
  readonly #subscription: { unsubscribe(): void };
  readonly #reconnects: { stop(): void };
  #arrived: StoredMessage[] = [];
  #deliveries = 0;
  #number = 0;
  #inRound = 0;
  /** No further message of this round comes. */
  #isOver = true;
  #wake: () => void = () => {};

  constructor(
    private readonly api: JetStreamApi,
    private readonly consumer: string,
    private readonly options: ReadOptions,
    private readonly from: number,
  ) {
    this.#inbox = api.link.newInbox();
    this.#subscription = api.link.subscribe(`${this.#inbox}.*`, (answer) => {
      this.#receive(answer);
      this.#wake();
    });
    this.#reconnects = api.link.onReconnect(() => this.#break());
  }

  /** The messages that have arrived, or the next ones; may be none. The messages of the call before are read (OF6). */
  async take(silenceMs: number): Promise<readonly StoredMessage[]> {
    if (this.#arrived.length === 0) {
      if (this.#isOver) this.#request();
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // After a pause of this process the answer may be in the socket, so it is read first.
        timer = setTimeout(() => setImmediate(() => setImmediate(() => this.#break())), silenceMs);
      });
      clearTimeout(timer);
    }
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  close(): void {
    this.#reconnects.stop();
    if (!this.api.link.raw.isClosed()) this.#subscription.unsubscribe();
    this.api.deleteConsumer(this.options.stream, this.consumer);
  }

  #request(): void {
    this.#number += 1;
    this.#inRound = 0;
    this.#isOver = false;
    const { stream, round } = this.options;
    const question = JSON.stringify({ batch: round.messages, max_bytes: round.bytes, no_wait: true });
    const subject = jetStreamApiSubject(`CONSUMER.MSG.NEXT.${stream}.${this.consumer}`);
    this.api.link.publish(subject, question, { reply: `${this.#inbox}.${this.#number}` });
  }

  #receive(answer: Msg): void {
    const bytes = answer.data;
    // The headers and the subject of a stored message are not used, and so not parsed.
    const status = bytes.length > 0 ? 0 : (answer.headers?.code ?? 0);
    if (status > 0) {
      if (answer.subject !== `${this.#inbox}.${this.#number}`) return; // of an earlier round
      if (status === NO_MORE) setTimeout(() => this.#request(), AT_END_MS);
      else if (status === ROUND_IS_FULL) this.#isOver = true;
      else this.isBroken = true;
      return;
    }
    const delivery = parseDelivery(answer.reply ?? '');
    this.#deliveries += 1;
    if (this.isBroken || delivery?.number !== this.#deliveries) {
      this.isBroken = true;
      return;
    }
    this.#inRound += 1;
    if (this.#inRound === this.options.round.messages) this.#isOver = true;
    const { position, storedAtMs } = delivery;
    // A late server starts at its end, which may be below the requested position.
    if (position >= this.from) this.#arrived.push({ position, bytes, storedAtMs });
  }

  #break(): void {
    this.isBroken = true;
    this.#wake();
  }
}
