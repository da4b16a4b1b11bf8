/**
 * The messages of a stream in order from a position on: an ephemeral consumer without acknowledgements, which is
 * created again after a gap, a silence or a reconnect.
 *
 *  OF1 positions only grow; none is delivered twice
 *  OF2 no message between two delivered ones was skipped by the feed: the server numbers deliveries, and a missing
 *      number starts a new consumer after the last delivered message
 *  OF3 a heartbeat is passed on only when everything that the server had sent before it has arrived. A message without
 *      waiting successors counts as one, and so does the creation of a consumer without messages; with a ping, each
 *      answer after such an event, until another message arrives
 *  OF4 a pulled feed gets at most the requested amount at a time, because a push arrives in bursts of megabytes, which
 *      the client parses in one step
 */
import type { Msg, MsgHdrs, Subscription as NatsSubscription } from 'nats';
import { nuid } from 'nats';
import type { StoredMessage } from '../../ports/index.js';
import { type JetStreamApi, JetStreamRefusal } from './jetstream-api.js';
import type { ServerPing } from './server-ping.js';
import { jetStreamApiSubject, parseDelivery } from './subjects.js';

export interface FeedOptions {
  readonly stream: string;
  /** First position, from 1. */
  readonly from: number;
  /** One subject of a stream that has several. */
  readonly filterSubject?: string;
  /**
   * The server sends one after this silence, after twice this time at the latest; at least 100 ms. Not for pulled
   * feeds.
   */
  readonly heartbeatMs: number;
  /** The bounds of a round, for reading from beginning to end (OF4). Default: pushed. */
  readonly round?: { readonly messages: number; readonly bytes: number };
  /** Shows that the server lives, instead of frequent heartbeats. */
  readonly isAlive?: { readonly serverPing: ServerPing; readonly everyMs: number } | undefined;
}

export interface FeedListener {
  onMessage(message: StoredMessage): void;
  onHeartbeat(): void;
  /**
   * A round is over, or the server asks whether its messages were processed. The caller calls `answer` then, or
   * immediately; until it does, at most a few MiB more are sent.
   */
  onFlowControl(answer: () => void): void;
  /** The server refused the consumer. The feed continues to try until it is stopped. */
  onRefused(refusal: JetStreamRefusal): void;
}

/** A heartbeat may be delayed by a busy event loop or a slow disk; after this additional silence it counts as lost. */
const SILENCE_MS = 1500;
/** The pause before a reader at the stream's end pulls again. */
const PULL_AGAIN_MS = 50;
const RETRY_FIRST_MS = 100;
const RETRY_MOST_MS = 250;
/** The server that creates consumers is a leader too; a request lost with it is repeated after this time. */
const MADE_WITHIN_MS = 2000;
/** The server removes the consumer of an ended process after this time. */
const INACTIVE_MS = 10_000;
/** Statuses that end a round: no more messages, or the next one would exceed the bounds. */
const NO_MORE = 404;
const ROUND_IS_FULL = 409;
const NANOS_PER_MS = 1_000_000;

export class OrderedFeed {
  readonly #silenceMs: number;
  readonly #reconnects: { stop(): void };
  #next: number;
  #deliveries = 0;
  #consumer = '';
  #inbox = '';
  #subscription: NatsSubscription | undefined;
  #watch: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #retryMs = RETRY_FIRST_MS;
  #lastHeardAtMs = 0;
  /** Messages of this round so far; undefined while none is requested, or for a pushed feed. */
  #inRound: number | undefined;
  /** The server had no more messages at its last sign of life. */
  #isAtEnd = false;
  readonly #serverPing: { stop(): void } | undefined;
  #isStopped = false;

  constructor(
    private readonly api: JetStreamApi,
    private readonly options: FeedOptions,
    private readonly listener: FeedListener,
  ) {
    this.#next = options.from;
    this.#silenceMs = Math.max(SILENCE_MS, options.heartbeatMs * 5);
    this.#reconnects = api.link.onReconnect(() => this.restart());
    const { isAlive } = options;
    this.#serverPing = isAlive?.serverPing.listen(isAlive.everyMs, () => this.#isAtEnd && listener.onHeartbeat());
    void this.#start();
  }

  /** Replaces the consumer by one after the last delivered message, possibly on another server. */
  restart(): void {
    if (this.#isStopped) return;
    this.#leave();
    void this.#start();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reconnects.stop();
    this.#serverPing?.stop();
    this.#leave();
  }

  #leave(): void {
    this.#isAtEnd = false;
    clearTimeout(this.#watch);
    clearTimeout(this.#retry);
    clearTimeout(this.#again);
    if (this.#subscription === undefined) return;
    const { link } = this.api;
    if (!link.raw.isClosed()) {
      this.#subscription.unsubscribe();
      link.publish(jetStreamApiSubject(`CONSUMER.DELETE.${this.options.stream}.${this.#consumer}`), '');
    }
    this.#subscription = undefined;
  }

  async #start(): Promise<void> {
    const { link } = this.api;
    const { stream, filterSubject, round } = this.options;
    if (!link.isConnected()) return; // a reconnect starts it
    const inbox = link.newInbox();
    const consumer = `feed-${nuid.next()}`;
    let subscription: NatsSubscription;
    try {
      subscription = link.subscribe(inbox, (message) => {
        if (this.#subscription === subscription) this.#receive(message);
      });
    } catch {
      return; // the connection is closing, and so is this feed
    }
    this.#subscription = subscription;
    this.#consumer = consumer;
    this.#deliveries = 0;
    this.#inRound = undefined;
    this.#heard();
    const config = {
      name: consumer,
      deliver_policy: 'by_start_sequence',
      opt_start_seq: Math.max(1, this.#next),
      ack_policy: 'none',
      max_deliver: 1,
      replay_policy: 'instant',
      ...(round === undefined ? this.#pushedTo(inbox) : {}),
      inactive_threshold: INACTIVE_MS * NANOS_PER_MS,
      mem_storage: true,
      num_replicas: 1,
      ...(filterSubject === undefined ? {} : { filter_subject: filterSubject }),
    };
    const operation = `CONSUMER.CREATE.${stream}.${consumer}${filterSubject === undefined ? '' : `.${filterSubject}`}`;
    try {
      const made = await this.api.call<{ num_pending?: number }>(
        operation,
        { stream_name: stream, config },
        MADE_WITHIN_MS,
      );
      if (this.#subscription !== subscription) return;
      if (made.num_pending === 0 && this.#deliveries === 0) this.#atEnd();
      this.#retryMs = RETRY_FIRST_MS;
      this.#watchSilence(subscription, this.#silenceMs);
      if (round !== undefined) this.#pull(subscription, inbox);
    } catch (error) {
      if (this.#subscription !== subscription) return;
      if (error instanceof JetStreamRefusal) this.listener.onRefused(error);
      if (this.#isStopped) return;
      this.#leave();
      this.#retry = setTimeout(() => void this.#start(), this.#retryMs);
      this.#retryMs = Math.min(RETRY_MOST_MS, this.#retryMs * 2);
    }
  }

  #pushedTo(inbox: string): Record<string, unknown> {
    const { heartbeatMs } = this.options;
    return { deliver_subject: inbox, flow_control: true, idle_heartbeat: heartbeatMs * NANOS_PER_MS };
  }

  /** Requests one round. */
  #pull(subscription: NatsSubscription, inbox: string): void {
    const { link } = this.api;
    const { stream, round } = this.options;
    if (this.#subscription !== subscription || round === undefined || !link.isConnected()) return;
    this.#inbox = inbox;
    this.#inRound = 0;
    this.#heard();
    const question = JSON.stringify({ batch: round.messages, max_bytes: round.bytes, no_wait: true });
    link.publish(jetStreamApiSubject(`CONSUMER.MSG.NEXT.${stream}.${this.#consumer}`), question, { reply: inbox });
  }

  #roundIsOver(isAtEnd: boolean): void {
    const subscription = this.#subscription;
    const inbox = this.#inbox;
    if (subscription === undefined || this.#inRound === undefined) return;
    this.#inRound = undefined;
    if (isAtEnd) this.#again = setTimeout(() => this.#pull(subscription, inbox), PULL_AGAIN_MS);
    else this.listener.onFlowControl(() => this.#pull(subscription, inbox));
  }

  #receive(message: Msg): void {
    this.#heard();
    const { data } = message;
    // Stored messages keep the headers of their publication, which are not used and so not parsed.
    const headers = data.length === 0 ? message.headers : undefined;
    if (headers !== undefined && headers.code >= 400) {
      // Any other status, for example of a removed consumer, is followed by silence, and that by a new consumer.
      if (headers.code === NO_MORE || headers.code === ROUND_IS_FULL) this.#roundIsOver(headers.code === NO_MORE);
      return;
    }
    if (headers !== undefined && headers.code === 100) {
      this.#receiveControl(message, headers);
      return;
    }
    const delivery = parseDelivery(message.reply ?? '');
    if (delivery === undefined) return; // not from a consumer: no other sender may publish to this inbox
    if (delivery.number !== this.#deliveries + 1) {
      this.restart();
      return;
    }
    this.#deliveries = delivery.number;
    // A late server starts at its end, which may be below the requested position.
    if (delivery.position < this.#next) {
      this.#countInRound();
      return;
    }
    this.#isAtEnd = false;
    this.#next = delivery.position + 1;
    this.listener.onMessage({
      position: delivery.position,
      bytes: data,
      storedAtMs: delivery.storedAtMs,
    });
    if (delivery.pending === 0) this.#atEnd();
    this.#countInRound();
  }

  #countInRound(): void {
    if (this.#inRound === undefined) return;
    this.#inRound += 1;
    if (this.#inRound >= (this.options.round?.messages ?? 0)) this.#roundIsOver(false);
  }

  #receiveControl(message: Msg, headers: MsgHdrs): void {
    const answerTo = message.reply !== undefined && message.reply !== '' ? message.reply : stalledAt(headers);
    if (answerTo !== '') this.listener.onFlowControl(() => this.api.link.publish(answerTo, ''));
    if (message.reply !== undefined && message.reply !== '') return;
    const sent = Number(headers.get('Nats-Last-Consumer') || 0);
    if (sent > this.#deliveries) {
      this.restart();
      return;
    }
    this.#atEnd();
  }

  #atEnd(): void {
    this.#isAtEnd = true;
    this.listener.onHeartbeat();
  }

  #heard(): void {
    this.#lastHeardAtMs = performance.now();
  }

  #watchSilence(subscription: NatsSubscription, inMs: number): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#checkSilence(subscription), inMs);
  }

  /** Checks at the earliest time at which the silence may be too long. */
  #checkSilence(subscription: NatsSubscription): void {
    if (this.#subscription !== subscription) return;
    const leftMs = () => this.#lastHeardAtMs + this.#silenceMs - performance.now();
    const inMs = leftMs();
    this.#watchSilence(subscription, inMs > 0 ? inMs : this.#silenceMs / 3);
    // A feed with a busy reader has not requested a round.
    if (inMs > 0 || (this.options.round !== undefined && this.#inRound === undefined)) return;
    // After a pause of this process the answer may be in the socket, so it is read first.
    const isSilent = () => this.#subscription === subscription && leftMs() <= 0;
    setImmediate(() => setImmediate(() => isSilent() && this.restart()));
  }
}

/** A consumer that waits for an answer repeats where to send it with each heartbeat. */
function stalledAt(headers: MsgHdrs): string {
  return headers.get('Nats-Consumer-Stalled') ?? '';
}
