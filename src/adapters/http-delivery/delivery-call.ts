/**
 * One call to a destination, from its place among the connections to its outcome. It is what undici tells of the
 * response: the names of its methods `on…` are undici's.
 *
 * Invariants
 *  DC1 there is exactly one outcome, whichever of response, failure, time limit and interruption comes first
 *  DC2 with the outcome the call holds nothing any more: no timer, no place, no connection
 *  DC3 no method throws: undici would end the connection's client with it
 *  DC4 of all that arrives, at most `maxOverheadBytes` are not body: status lines, headers, framing, trailers
 *  DC5 a connection that was used before may have been closed while the request was on its way. When it ends without a
 *      byte of an answer, the call goes out again on a new one, once
 *  DC6 a long answer is read on when there is room for it; the time limit goes on meanwhile
 */
import type { Dispatcher } from 'undici';
import type { CallOutcome, OutgoingCall } from '../../ports/index.js';
import { type AnswerMemory, type AnswerPlace, FREE_ANSWER_BYTES } from './answer-memory.js';
import { CallFailure, failureWords, isConnectionLost, timeoutWords } from './failure-words.js';
import type { Connection, OriginConnections, Passenger } from './origin-connections.js';
import { ResponseBody } from './response-body.js';
import { responseHeaders } from './response-headers.js';

/** Interim responses (1xx) of one call; nobody sends more in earnest. */
const MAX_INTERIM_RESPONSES = 16;

export interface CallPlan {
  readonly call: OutgoingCall;
  readonly connections: OriginConnections;
  readonly dispatch: Dispatcher.DispatchOptions;
  readonly maxOverheadBytes: number;
  readonly answers: AnswerMemory;
  /** Called once, when nothing of the call is left. */
  readonly over: (call: DeliveryCall, outcome: CallOutcome) => void;
}

export class DeliveryCall implements Passenger, Dispatcher.DispatchHandler {
  readonly #plan: CallPlan;
  readonly #startedAtMs = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #body: ResponseBody;
  #connection: Connection | undefined;
  #status = 0;
  #headers: OutgoingCall['headers'] = [];
  #interimResponses = 0;
  /** What came over the connection since this call has it. */
  #receivedBytes = 0;
  #bodyBytes = 0;
  #wentOutAgain = false;
  /** Undefined: the answer is short until now. */
  #place: AnswerPlace | undefined;
  #resume: () => void = () => {};
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
    connection.client.dispatch(this.#plan.dispatch, this);
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
    if (this.#receivedBytes - this.#bodyBytes > this.#plan.maxOverheadBytes) {
      this.#fail('response too large beside its body');
    }
  }

  interrupt(): void {
    this.#end({ kind: 'interrupted' }, false);
  }

  onConnect(): void {}

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (this.#isOver) return true;
    if (status >= 200) {
      this.#status = status;
      this.#resume = resume;
      this.#headers = responseHeaders(headers);
      return true;
    }
    this.#interimResponses += 1;
    if (this.#interimResponses > MAX_INTERIM_RESPONSES) this.#fail('too many interim responses');
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#bodyBytes += chunk.length;
    if (this.#isOver) return true;
    if (this.#body.add(chunk)) {
      this.#respond(true);
      return true;
    }
    return this.#place !== undefined || this.#body.length <= FREE_ANSWER_BYTES || this.#takeRoom();
  }

  /** DC6. @returns whether to read on at once */
  #takeRoom(): boolean {
    const { call, answers } = this.#plan;
    const length = Number(this.#headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? Number.NaN);
    const bytes = length > 0 ? Math.min(length, call.maxResponseBytes) : call.maxResponseBytes;
    this.#place = { tenant: call.tenant ?? '', bytes, goOn: () => setImmediate(() => this.#goOn()) };
    return answers.take(this.#place);
  }

  /** Not from within another connection's parser: there is one for all of them. */
  #goOn(): void {
    if (!this.#isOver) this.#resume();
  }

  onComplete(): void {
    this.#respond(false);
  }

  onError(error: Error): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    if (connection?.isReused && this.#receivedBytes === 0 && !this.#wentOutAgain && isConnectionLost(error)) {
      this.#wentOutAgain = true;
      this.#plan.connections.replace(connection, this);
      return;
    }
    this.#fail(failureWords(error));
  }

  onUpgrade(): void {
    this.onError(new CallFailure('response is not valid HTTP/1.1'));
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
