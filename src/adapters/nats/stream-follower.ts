/**
 * Follows a stream from a position on: an ephemeral consumer that pushes, without acknowledgements, which is created
 * again after a gap, a silence or a reconnect. The client's own ordered consumer notices a silence only after a minute.
 *
 *  OF1 positions only grow; none is delivered twice
 *  OF2 no message between two delivered ones was skipped: the server numbers deliveries, and a missing number starts a
 *      new consumer after the last delivered message
 *  OF3 a heartbeat is passed on only when everything that the server had sent before it has arrived. A message without
 *      waiting successors counts as one, and so does the creation of a consumer without messages; with a ping, each
 *      answer after such an event, until another message arrives
 */
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { millis, nanos } from 'nats';
import type { StoredMessage } from '../../ports/index.js';
import type { JetStreamApi } from './jetstream-api.js';
import type { ServerPing } from './server-ping.js';

export interface FollowOptions {
  readonly stream: string;
  /** First position, from 1. */
  readonly from: number;
  /** The server sends one after this silence, after twice this time at the latest; at least 100 ms. */
  readonly heartbeatMs: number;
  /** Shows that the server lives, instead of frequent heartbeats. */
  readonly isAlive?: { readonly serverPing: ServerPing; readonly everyMs: number } | undefined;
}

export interface FollowListener {
  onMessage(message: StoredMessage): void;
  onHeartbeat(): void;
}

/** A heartbeat may be delayed by a busy event loop or a slow disk; after this silence it counts as lost. */
const SILENCE_MS = 1500;
const RETRY_MS = 200;

export class StreamFollower {
  readonly #reconnects: { stop(): void };
  readonly #serverPing: { stop(): void } | undefined;
  #next: number;
  #current: { readonly consumer: string; readonly messages: ConsumerMessages } | undefined;
  /** Counts consumers, so that messages and answers of an earlier one are dropped. */
  #turn = 0;
  #deliveries = 0;
  readonly #silenceMs: number;
  #lastHeardAtMs = 0;
  /** The next look at the silence, or the next try. */
  #timer: NodeJS.Timeout | undefined;
  /** The server had no more messages at its last sign of life. */
  #isAtEnd = false;
  #isStopped = false;

  constructor(
    private readonly api: JetStreamApi,
    private readonly options: FollowOptions,
    private readonly listener: FollowListener,
  ) {
    this.#next = Math.max(1, options.from);
    this.#silenceMs = Math.max(SILENCE_MS, options.heartbeatMs * 5);
    this.#reconnects = api.link.onReconnect(() => this.#restart());
    const { isAlive } = options;
    this.#serverPing = isAlive?.serverPing.listen(isAlive.everyMs, () => this.#isAtEnd && listener.onHeartbeat());
    void this.#start();
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reconnects.stop();
    this.#serverPing?.stop();
    this.#leave();
  }

  /** Replaces the consumer by one after the last delivered message, possibly on another server. */
  #restart(): void {
    if (this.#isStopped) return;
    this.#leave();
    void this.#start();
  }

  #leave(): void {
    this.#turn += 1;
    this.#isAtEnd = false;
    clearTimeout(this.#timer);
    if (this.#current === undefined) return;
    this.#current.messages.stop();
    this.api.deleteConsumer(this.options.stream, this.#current.consumer);
    this.#current = undefined;
  }

  async #start(): Promise<void> {
    const { link } = this.api;
    if (!link.isConnected()) return; // a reconnect starts it
    const { stream, heartbeatMs } = this.options;
    const turn = this.#turn;
    const isCurrent = () => this.#turn === turn;
    const [consumer, inbox] = [this.api.newConsumerName(), link.newInbox()];
    let messages: ConsumerMessages;
    try {
      messages = await this.api.receive(inbox, (message) => isCurrent() && this.#receive(message));
    } catch {
      return; // the connection is closing, and so is this feed
    }
    if (!isCurrent()) {
      messages.stop();
      return;
    }
    this.#current = { consumer, messages };
    this.#deliveries = 0;
    this.#heard();
    void this.#receiveStatus(messages, isCurrent);
    const push = { deliver_subject: inbox, flow_control: true, idle_heartbeat: nanos(heartbeatMs) };
    try {
      const made = await this.api.createConsumer(stream, { name: consumer, opt_start_seq: this.#next, ...push });
      if (!isCurrent()) return;
      if (made.num_pending === 0 && this.#deliveries === 0) this.#atEnd();
      this.#watchSilence(this.#silenceMs);
    } catch {
      if (!isCurrent()) return;
      this.#leave();
      this.#timer = setTimeout(() => void this.#start(), RETRY_MS);
    }
  }

  #receive({ info, data }: JsMsg): void {
    this.#heard();
    if (info.deliverySequence !== this.#deliveries + 1) {
      this.#restart();
      return;
    }
    this.#deliveries = info.deliverySequence;
    // A late server starts at its end, which may be below the requested position.
    if (info.streamSequence < this.#next) return;
    this.#isAtEnd = false;
    this.#next = info.streamSequence + 1;
    const storedAtMs = Math.floor(millis(info.timestampNanos));
    this.listener.onMessage({ position: info.streamSequence, bytes: data, storedAtMs });
    if (info.pending === 0) this.#atEnd();
  }

  async #receiveStatus(messages: ConsumerMessages, isCurrent: () => boolean): Promise<void> {
    for await (const status of messages.status()) {
      if (!isCurrent()) return;
      if (status.type === 'heartbeat' || status.type === 'flow_control') this.#heard();
      if (status.type !== 'heartbeat') continue;
      if (status.lastConsumerSequence > this.#deliveries) this.#restart();
      else if (status.lastConsumerSequence === this.#deliveries) this.#atEnd();
    }
  }

  #atEnd(): void {
    this.#isAtEnd = true;
    this.listener.onHeartbeat();
  }

  #heard(): void {
    this.#lastHeardAtMs = performance.now();
  }

  /** Looks at the earliest time at which the silence may be too long. The client's own watch uses the wall clock. */
  #watchSilence(inMs: number): void {
    const turn = this.#turn;
    const leftMs = () => this.#lastHeardAtMs + this.#silenceMs - performance.now();
    this.#timer = setTimeout(() => {
      const waitMs = leftMs();
      this.#watchSilence(waitMs > 0 ? waitMs : this.#silenceMs / 3);
      // After a pause of this process the answer may be in the socket, so it is read first.
      const restartIfSilent = () => this.#turn === turn && leftMs() <= 0 && this.#restart();
      if (waitMs <= 0) setImmediate(() => setImmediate(restartIfSilent));
    }, inMs);
  }
}
