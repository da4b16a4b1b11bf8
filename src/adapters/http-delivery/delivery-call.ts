/**
 * One call to a destination, from its place among the connections to its outcome.
 *
 *  DC1 there is exactly one outcome: the first of response, failure, time limit and interruption
 *  DC2 with the outcome the call releases its timer, place and connection
 *  DC3 no method throws, for any order of events of a connection
 *  DC4 of all received bytes, at most `maxOverheadBytes` are not body: status lines, headers, framing, trailers
 *  DC5 a reused connection may have been closed while the request was in transit: when it ends without any byte of an
 *      answer, the call is sent again on a new one, once
 *  DC6 a long answer is read when there is room for it; the time limit continues during the wait
 *  DC7 the permission to send is checked each time that the request is about to be sent (HO5)
 */
import type { Gathered } from '../../kernel/index.js';
import type { CallOutcome, OutgoingCall } from '../../ports/index.js';
import { type AnswerMemory, type AnswerPlace, FREE_ANSWER_BYTES } from './answer-memory.js';
import type { Connection, Passenger, SentRequest } from './connection.js';
import { failureWords, isConnectionLost, timeoutWords } from './failure-words.js';
import type { OriginConnections } from './origin-connections.js';
import { ResponseBody } from './response-body.js';

/** Interim responses (1xx) of one call; real servers send fewer. */
const MAX_INTERIM_RESPONSES = 16;

export interface CallPlan {
  readonly call: OutgoingCall;
  readonly connections: OriginConnections;
  readonly request: SentRequest;
  readonly maxOverheadBytes: number;
  readonly answers: AnswerMemory;
  /** Called once, when the call has released everything. */
  readonly over: (call: DeliveryCall, outcome: CallOutcome) => void;
}

export class DeliveryCall implements Passenger, Gathered {
  place = -1;
  readonly #plan: CallPlan;
  readonly #startedAtMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #body: ResponseBody;
  #connection: Connection | undefined;
  #status = 0;
  #headers: OutgoingCall['headers'] = [];
  #interimResponses = 0;
  /** Bytes received since this call has the connection. */
  #receivedBytes = 0;
  #bodyBytes = 0;
  #wentOutAgain = false;
  /** Undefined while the answer is short. */
  #place: AnswerPlace | undefined;
  #isWaitingForRoom = false;
  #isOver = false;

  constructor(plan: CallPlan) {
    this.#plan = plan;
    this.#body = new ResponseBody(plan.call.maxResponseBytes);
    this.#timer = setTimeout(() => this.#fail(timeoutWords(plan.call.timeoutMs)), plan.call.timeoutMs);
  }

  get signal(): AbortSignal {
    return this.#plan.call.signal;
  }

  start(): void {
    this.#plan.connections.enter(this);
  }

  board(connection: Connection): void {
    this.#connection = connection;
  }

  /** Checks the permission to send (DC7). */
  request(): SentRequest | undefined {
    const { call, request } = this.#plan;
    if (this.#isOver) return undefined;
    if (call.maySend?.() !== false) return request;
    this.#end({ kind: 'held-back' }, false);
    return undefined;
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes - this.#bodyBytes > this.#plan.maxOverheadBytes) {
      this.#fail('response headers, interim responses and framing are too large');
    }
  }

  interrupt(): void {
    this.#end({ kind: 'interrupted' }, false);
  }

  onHeaders(status: number, headers: OutgoingCall['headers']): void {
    if (this.#isOver) return;
    if (status >= 200) {
      this.#status = status;
      this.#headers = headers;
      return;
    }
    this.#interimResponses += 1;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES) this.#fail('too many interim responses');
  }

  onData(chunk: Uint8Array): void {
    this.#bodyBytes += chunk.length;
    if (this.#isOver) return;
    if (this.#body.add(chunk)) this.#respond(true);
    else if (this.#place === undefined && this.#body.length > FREE_ANSWER_BYTES) this.#takeRoom();
  }

  get readsOn(): boolean {
    return !this.#isWaitingForRoom;
  }

  /** Reserves room for a long answer (DC6). */
  #takeRoom(): void {
    const { call, answers } = this.#plan;
    const length = Number(this.#headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? Number.NaN);
    const bytes = length > 0 ? Math.min(length, call.maxResponseBytes) : call.maxResponseBytes;
    this.#place = { tenant: call.tenant ?? '', bytes, goOn: () => this.#goOn() };
    this.#isWaitingForRoom = !answers.take(this.#place);
  }

  #goOn(): void {
    this.#isWaitingForRoom = false;
    if (!this.#isOver) this.#connection?.goOn();
  }

  onComplete(): void {
    this.#respond(false);
  }

  onError(error: unknown): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    if (connection?.isReused && this.#receivedBytes === 0 && !this.#wentOutAgain && isConnectionLost(error)) {
      this.#wentOutAgain = true;
      this.#plan.connections.replace(connection, this);
      return;
    }
    this.#fail(failureWords(error));
  }

  #respond(isCut: boolean): void {
    const response = { status: this.#status, header: this.#headers, body: this.#body.bytes(), isCut };
    this.#end({ kind: 'response', ...response, durationMs: this.#durationMs() }, !isCut);
  }

  #fail(error: string): void {
    this.#end({ kind: 'no-response', error, durationMs: this.#durationMs() }, false);
  }

  #end(outcome: CallOutcome, isClean: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (this.#place !== undefined) this.#plan.answers.giveBack(this.#place);
    if (this.#connection === undefined) this.#plan.connections.leave(this);
    else this.#plan.connections.release(this.#connection, isClean);
    this.#plan.over(this, outcome);
  }

  #durationMs(): number {
    return Math.round(performance.now() - this.#startedAtMs);
  }
}
