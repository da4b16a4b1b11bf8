/**
 * Requests and their answers on one connection: one subscription, a token for each request. The client has
 * the same, with an error object and several promises for every request; an append in the hot path cannot
 * afford them (docs/adr/0011-requests-of-our-own.md).
 *
 *  RI1 a request is sent once; an answer that nobody waits for any more is dropped
 *  RI2 the subscription survives reconnects, what waits does not: the link fails it
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection, type Payload } from 'nats';

/** What a server answers when nobody serves the subject. */
const NO_RESPONDERS = 503;

export interface RequestListener {
  /** @returns true when more answers are to come */
  onAnswer(message: Msg): boolean;
  onNoResponders(): void;
  onTimeout(): void;
  onLost(): void;
}

interface Waiting {
  readonly listener: RequestListener;
  readonly timer: NodeJS.Timeout;
}

export class RequestInbox {
  readonly #waitingByToken = new Map<string, Waiting>();
  readonly #inbox: string;
  #count = 0;
  #isSubscribed = false;

  constructor(
    private readonly connection: NatsConnection,
    inboxPrefix: string,
  ) {
    this.#inbox = createInbox(inboxPrefix);
  }

  /** @throws what the client's `publish` throws: nothing was sent then */
  request(
    subject: string,
    payload: Payload,
    timeoutMs: number,
    headers: MsgHdrs | undefined,
    listener: RequestListener,
  ): void {
    this.#subscribe();
    this.#count += 1;
    const token = this.#count.toString(36);
    const reply = `${this.#inbox}.${token}`;
    this.connection.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
    const timer = setTimeout(() => {
      this.#waitingByToken.delete(token);
      listener.onTimeout();
    }, timeoutMs);
    this.#waitingByToken.set(token, { listener, timer });
  }

  /** The connection is gone: nothing that waits will be answered. */
  failAll(): void {
    const waiting = [...this.#waitingByToken.values()];
    this.#waitingByToken.clear();
    for (const { listener, timer } of waiting) {
      clearTimeout(timer);
      listener.onLost();
    }
  }

  #subscribe(): void {
    if (this.#isSubscribed) return;
    this.#isSubscribed = true;
    this.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
      },
    });
  }

  #receive(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waitingByToken.get(token);
    if (waiting === undefined) return;
    const isUnserved = message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
    if (!isUnserved && waiting.listener.onAnswer(message)) return;
    this.#waitingByToken.delete(token);
    clearTimeout(waiting.timer);
    if (isUnserved) waiting.listener.onNoResponders();
  }
}
