/**
 * Requests and their answers on one connection: one subscription, a token for each request. The client has
 * the same, with an error object and several promises for every request; an append in the hot path cannot
 * afford them (docs/adr/0011-requests-of-our-own.md).
 *
 *  RI1 a request is sent once; an answer that nobody waits for any more is dropped
 *  RI2 the subscription survives reconnects, what waits does not: the link fails it
 *  RI3 one timer is there for all that waits, and none while nothing does for long
 */
import { createInbox, type Msg, type NatsConnection, type Payload } from 'nats';
import { LinkFailure, type LinkFailureKind } from './link-failure.js';
import { RequestFrames } from './request-frames.js';

/** What a server answers when nobody serves the subject. */
const NO_RESPONDERS = 503;

/** What is returned by who waits for another answer to the same request. */
export const MORE = Symbol('more answers are to come');

/** Called with what became of a request, and not again unless it returns `MORE`. */
export type Settle = (answer: Msg | LinkFailure) => unknown;

interface Waiting {
  readonly settle: Settle;
  readonly subject: string;
  readonly endMs: number;
}

export class RequestInbox {
  readonly #waitingByToken = new Map<string, Waiting>();
  readonly #inbox: string;
  readonly #frames: RequestFrames;
  #count = 0;
  #isSubscribed = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer fires: not later than anything that waits ends. */
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly connection: NatsConnection,
    inboxPrefix: string,
    /** Called when something was not answered in time. */
    private readonly onOverdue: () => void,
  ) {
    this.#inbox = createInbox(inboxPrefix);
    this.#frames = new RequestFrames(connection);
  }

  /** @throws what the client's `publish` throws: nothing was sent then */
  request(subject: string, payload: Payload, timeoutMs: number, headers: string, settle: Settle): void {
    this.#subscribe();
    this.#count += 1;
    const token = this.#count.toString(36);
    this.#frames.send(subject, `${this.#inbox}.${token}`, headers, payload);
    const endMs = performance.now() + timeoutMs;
    this.#waitingByToken.set(token, { settle, subject, endMs });
    if (endMs < this.#timerMs) this.#wakeAt(endMs, timeoutMs);
  }

  /** The connection is gone, or its answers do not come here: nothing that waits will be answered. */
  failAll(why: string, kind: LinkFailureKind = 'disconnected'): void {
    const waiting = [...this.#waitingByToken.values()];
    this.#waitingByToken.clear();
    clearTimeout(this.#timer);
    this.#timerMs = Number.POSITIVE_INFINITY;
    for (const { settle } of waiting) settle(new LinkFailure(kind, why));
  }

  /** What waits for an answer from there has none to come; of several, some may have been received before. */
  failSubject(subject: string, why: string): void {
    for (const [token, waiting] of this.#waitingByToken) {
      if (waiting.subject !== subject) continue;
      this.#waitingByToken.delete(token);
      waiting.settle(new LinkFailure('forbidden', why));
    }
  }

  /** RI3 */
  #wakeAt(atMs: number, inMs: number): void {
    clearTimeout(this.#timer);
    this.#timerMs = atMs;
    this.#timer = setTimeout(() => this.#endOverdue(), inMs);
  }

  #endOverdue(): void {
    this.#timerMs = Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    const overdue: Waiting[] = [];
    for (const [token, waiting] of this.#waitingByToken) {
      if (waiting.endMs > nowMs) {
        nextMs = Math.min(nextMs, waiting.endMs);
        continue;
      }
      this.#waitingByToken.delete(token);
      overdue.push(waiting);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#wakeAt(nextMs, Math.ceil(nextMs - nowMs));
    if (overdue.length > 0) this.onOverdue();
    for (const { settle, subject } of overdue) {
      settle(new LinkFailure('timed-out', `no answer from ${subject} in time`));
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
    this.#waitingByToken.delete(token);
    const { settle, subject } = waiting;
    const isUnserved = message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
    const outcome = isUnserved ? new LinkFailure('no-responders', `nobody answers ${subject}`) : message;
    if (settle(outcome) === MORE) this.#waitingByToken.set(token, waiting);
  }
}
