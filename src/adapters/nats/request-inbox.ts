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
import { type WaitingRequest, WaitingRequests } from './waiting-requests.js';

/** The status of a server when the subject has no subscriber. */
const NO_RESPONDERS = 503;

/** Returned by `settle` to wait for another answer to the same request. */
export const MORE = Symbol('more answers are to come');

/** Called with the outcome of a request, and again only if it returns `MORE`. */
export type Settle = (answer: Msg | LinkFailure) => unknown;

interface Waiting extends WaitingRequest {
  readonly settle: Settle;
  readonly subject: string;
}

export class RequestInbox {
  readonly #waiting: WaitingRequests<Waiting>;
  readonly #inbox: string;
  #isSubscribed = false;

  constructor(
    private readonly connection: NatsConnection,
    inboxPrefix: string,
    /** Called when a request was not answered in time. */
    onOverdue: () => void,
  ) {
    this.#inbox = createInbox(inboxPrefix);
    this.#waiting = new WaitingRequests((overdue) => {
      onOverdue();
      for (const { settle, subject } of overdue) {
        settle(new LinkFailure('timed-out', `no answer from ${subject} in time`));
      }
    });
  }

  /** @throws the error of the client's `publish`; then the request was not sent */
  request(subject: string, payload: Payload, timeoutMs: number, headers: MsgHdrs | undefined, settle: Settle): void {
    this.#subscribe();
    if (this.#waiting.isFull) throw new Error('too many requests wait for their answers');
    const number = this.#waiting.add({ settle, subject, endMs: performance.now() + timeoutMs });
    const reply = `${this.#inbox}.${number.toString(36)}`;
    try {
      this.connection.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
    } catch (error) {
      this.#waiting.take(number);
      throw error;
    }
  }

  /** The connection is lost, or answers cannot reach it: fails all waiting requests. */
  failAll(reason: string, kind: LinkFailureKind = 'disconnected'): void {
    for (const { settle } of this.#waiting.takeAll()) settle(new LinkFailure(kind, reason));
  }

  /** Fails the requests that wait for an answer from a subject; some of their answers may have been received before. */
  failSubject(subject: string, reason: string): void {
    const failed = this.#waiting.takeAll((waiting) => waiting.subject === subject);
    for (const { settle } of failed) settle(new LinkFailure('forbidden', reason));
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
    const number = Number.parseInt(message.subject.slice(this.#inbox.length + 1), 36);
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    const { settle, subject } = waiting;
    const isUnserved = message.data.length === 0 && message.headers?.code === NO_RESPONDERS;
    const outcome = isUnserved ? new LinkFailure('no-responders', `no process answers ${subject}`) : message;
    if (settle(outcome) !== MORE) this.#waiting.take(number);
  }
}
