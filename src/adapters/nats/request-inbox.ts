/**
 * Requests and their answers on one connection: one subscription, a token for each request. The client's own `request`
 * creates an error object and several promises for each; the append path saves these (docs/decisions/dependencies.md).
 *
 *  RI1 a request is sent once; an answer without a waiting request is dropped
 *  RI2 the subscription survives reconnects; waiting requests do not: the link fails them
 *  RI3 one timer serves all waiting requests, and it stops when there are none
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection, type Payload } from 'nats';
import { LinkFailure, type LinkFailureKind } from './link-failure.js';

/** The status of a server when the subject has no subscriber. */
const NO_RESPONDERS = 503;

/** Returned by `settle` to wait for another answer to the same request. */
export const MORE = Symbol('more answers are to come');

/** Called with the outcome of a request, and again only if it returns `MORE`. */
export type Settle = (answer: Msg | LinkFailure) => unknown;

interface Waiting {
  readonly settle: Settle;
  readonly subject: string;
  readonly endMs: number;
}

export class RequestInbox {
  readonly #waitingByToken = new Map<string, Waiting>();
  readonly #inbox: string;
  #count = 0;
  #isSubscribed = false;
  #timer: NodeJS.Timeout | undefined;
  /** The time of the timer: at the latest the earliest deadline of a waiting request. */
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly connection: NatsConnection,
    inboxPrefix: string,
    /** Called when a request was not answered in time. */
    private readonly onOverdue: () => void,
  ) {
    this.#inbox = createInbox(inboxPrefix);
  }

  /** @throws the error of the client's `publish`; then the request was not sent */
  request(subject: string, payload: Payload, timeoutMs: number, headers: MsgHdrs | undefined, settle: Settle): void {
    this.#subscribe();
    this.#count += 1;
    const token = this.#count.toString(36);
    const reply = `${this.#inbox}.${token}`;
    this.connection.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
    const endMs = performance.now() + timeoutMs;
    this.#waitingByToken.set(token, { settle, subject, endMs });
    if (endMs < this.#timerMs) this.#wakeAt(endMs, timeoutMs);
  }

  /** The connection is lost, or answers cannot reach it: fails all waiting requests. */
  failAll(why: string, kind: LinkFailureKind = 'disconnected'): void {
    const waiting = [...this.#waitingByToken.values()];
    this.#waitingByToken.clear();
    clearTimeout(this.#timer);
    this.#timerMs = Number.POSITIVE_INFINITY;
    for (const { settle } of waiting) settle(new LinkFailure(kind, why));
  }

  /** Fails the requests that wait for an answer from a subject; some of their answers may have been received before. */
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
    const outcome = isUnserved ? new LinkFailure('no-responders', `no process answers ${subject}`) : message;
    if (settle(outcome) === MORE) this.#waitingByToken.set(token, waiting);
  }
}
