/**
 * Messages of a stream in order, from a position on, for as long as it is wanted: an ephemeral
 * consumer without acknowledgements, made again after a gap, a silence or a reconnect.
 *
 *  OF1 positions only grow; none is delivered twice
 *  OF2 nothing between two delivered messages was skipped by the feed: the server numbers deliveries,
 *      and a missing number starts a new consumer behind the last one delivered
 *  OF3 a heartbeat is passed on only when everything that the server had sent before it has arrived. A message that
 *      nothing waits behind is one too, and so is the making of a consumer that has nothing to send; where there is a
 *      pulse, each answer to it after such a one, until something else arrives
 *  OF4 a feed that is pulled gets no more at a time than it asks for: what a server pushes arrives in bursts
 *      of megabytes, and the client parses a burst in one go
 */
import type { Msg, MsgHdrs, Subscription as NatsSubscription } from 'nats';
import { nuid } from 'nats';
import type { StoredMessage } from '../../ports/index.js';
import { type JetStreamApi, JetStreamRefusal } from './jetstream-api.js';
import type { Pulse } from './pulse.js';
import { jetStreamApiSubject, parseDelivery } from './subjects.js';

export interface FeedOptions {
  readonly stream: string;
  /** First position wanted, from 1. */
  readonly from: number;
  /** One subject of a stream that has several. */
  readonly filterSubject?: string;
  /** The server sends one after this much silence, twice this at the latest; 100 ms at least. Not when pulled. */
  readonly heartbeatMs: number;
  /** Asked for in rounds of at most so much, for what is read from beginning to end (OF4). Default: pushed. */
  readonly round?: { readonly messages: number; readonly bytes: number };
  /** What says that the server is there, in the place of frequent heartbeats. */
  readonly isAlive?: { readonly pulse: Pulse; readonly everyMs: number } | undefined;
}

export interface FeedListener {
  onMessage(message: StoredMessage): void;
  onHeartbeat(): void;
  /**
   * A round is over, or the server wants to know that what it sent has been worked off. Call `answer` then, or
   * at once. Until it is called nothing more is sent, or no more than a few MiB.
   */
  onFlowControl(answer: () => void): void;
  /** The server refused the consumer. The feed goes on trying unless it is stopped. */
  onRefused(refusal: JetStreamRefusal): void;
}

/** A heartbeat may be late by a busy event loop or a slow disk; after this much silence it is lost. */
const SILENCE_MS = 1500;
/** A reader that is ahead of what the server shows asks again after this. */
const PULL_AGAIN_MS = 50;
const RETRY_FIRST_MS = 100;
const RETRY_MOST_MS = 250;
/** Whoever makes consumers is a leader, too; a question that one took with it when it ended is asked again after this. */
const MADE_WITHIN_MS = 2000;
/** The server forgets the consumer of a process that is gone after this. */
const INACTIVE_MS = 10_000;
/** Statuses that end a round: nothing more is there, and what comes next would be more than was asked for. */
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
  /** Messages of this round so far; undefined while none is asked for, or when the feed is pushed. */
  #inRound: number | undefined;
  /** The server had nothing more when it was heard last. */
  #isAtEnd = false;
  readonly #pulse: { stop(): void } | undefined;
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
    this.#pulse = isAlive?.pulse.listen(isAlive.everyMs, () => this.#isAtEnd && listener.onHeartbeat());
    void this.#start();
  }

  /** Leaves the consumer for a new one behind the last message delivered; perhaps on another server. */
  restart(): void {
    if (this.#isStopped) return;
    this.#leave();
    void this.#start();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reconnects.stop();
    this.#pulse?.stop();
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
      return; // the connection is closing, and this feed with it
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

  /** Asks for one round. */
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
    // What is stored keeps the headers that it was published with; they are parsed when asked for, and nobody needs them.
    const headers = data.length === 0 ? message.headers : undefined;
    if (headers !== undefined && headers.code >= 400) {
      // Another status, of a consumer that is gone, say, is followed by silence, and that by a new consumer.
      if (headers.code === NO_MORE || headers.code === ROUND_IS_FULL) this.#roundIsOver(headers.code === NO_MORE);
      return;
    }
    if (headers !== undefined && headers.code === 100) {
      this.#receiveControl(message, headers);
      return;
    }
    const delivery = parseDelivery(message.reply ?? '');
    if (delivery === undefined) return; // not of a consumer: nothing else may publish to this inbox
    if (delivery.number !== this.#deliveries + 1) {
      this.restart();
      return;
    }
    this.#deliveries = delivery.number;
    // A server that lags behind starts at its own end, which may lie below what was asked for.
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

  /** Looks when there may have been silence for long enough, and not before. */
  #checkSilence(subscription: NatsSubscription): void {
    if (this.#subscription !== subscription) return;
    const leftMs = () => this.#lastHeardAtMs + this.#silenceMs - performance.now();
    const inMs = leftMs();
    this.#watchSilence(subscription, inMs > 0 ? inMs : this.#silenceMs / 3);
    // A feed whose reader is still busy with the last round has asked for nothing.
    if (inMs > 0 || (this.options.round !== undefined && this.#inRound === undefined)) return;
    // After a pause of this process the answer may be waiting in the socket: let it be read first.
    const isSilent = () => this.#subscription === subscription && leftMs() <= 0;
    setImmediate(() => setImmediate(() => isSilent() && this.restart()));
  }
}

/** A consumer that waits for an answer repeats where to send it with each heartbeat. */
function stalledAt(headers: MsgHdrs): string {
  return headers.get('Nats-Consumer-Stalled') ?? '';
}
