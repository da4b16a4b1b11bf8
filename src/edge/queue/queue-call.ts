/**
 * One request of an account and its answer: parsed words, access to the account's queue, and the only place that
 * writes the answer.
 *
 *  QC1 an answer is written once, head and body together, with its length; only a long list is sent in pieces
 *  QC2 every refusal is `{"error": "…"}`, in the spelling of the request, or of the headers in its body that it is
 *      about
 */
import { newMessageId, type QueueCommand, type QueueReply, type QueueReplyOf } from '../../domain/queue/index.js';
import { assert, type MessageId } from '../../kernel/index.js';
import type { MaybeBehind, QueueGrant } from '../../ports/index.js';
import { QUEUE_REFUSALS, queueRefusalOf, refusalToRun, rejectionRefusal } from '../error-map.js';
import { whenDrained, write, writeRefusal } from '../http/answer.js';
import { answer, type PassedCall, type PipelineContext, takeOver } from '../http/application.js';
import type { HttpResponse, ReceivedRequest } from '../http/exchange.js';
import { RefusedRequest } from '../http/refused.js';
import { type Described, type Route, routesOf } from '../http/route.js';
import { staleHeader } from '../http/stale-header.js';
import type { Spelling } from '../wire-alias.js';
import type { CallWords } from './call-words.js';
import type { SplitTarget } from './destination.js';
import { dailyHeaders } from './publish-answer.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { isRunId } from './run-names.js';

/** A malformed or too large step, or one above a limit: a retry would get the same refusal. */
const FINAL_FOR_STEPS: ReadonlySet<number> = new Set([400, 412, 413]);

/** Text of a list that is collected before the answer begins; a longer list is sent while it is encoded. */
const GATHERED_CHARACTERS = 64 * 1024;

/** A request of a call, and where its answer goes. */
export interface CallExchange {
  readonly request: ReceivedRequest;
  readonly response: HttpResponse;
  readonly target: SplitTarget;
  /** Undefined: the call is answered without Koa. */
  readonly context?: PipelineContext;
  /** The call that another endpoint of this process made of the request. */
  readonly passed?: PassedCall | undefined;
}

export class QueueCall {
  readonly request: ReceivedRequest;
  readonly response: HttpResponse;

  constructor(
    readonly endpoint: QueueEndpoint,
    readonly exchange: CallExchange,
    readonly words: CallWords,
    readonly grant: QueueGrant,
  ) {
    this.request = exchange.request;
    this.response = exchange.response;
  }

  /** The raw path. */
  get path(): string {
    return this.exchange.target.path;
  }

  /** Alternating names and values. */
  get rawHeaders(): readonly string[] {
    return rawHeadersOf(this.exchange);
  }

  /** The body as it arrived; empty for methods whose body has no meaning. */
  body: Buffer = Buffer.alloc(0);

  /** Sent by an endpoint in the middle of a run: refusals have the form that endpoints understand. */
  isOfRun = false;

  /** Sent by an endpoint, with any purpose. A temporary failure closes the connection, so that the client retries. */
  isByEndpoint = false;

  /** The run of a step; it fails when the step can never be accepted. Undefined for other calls. */
  runOfStep: string | undefined;

  /** The spelling of records: as in the request, otherwise as they were created. */
  spellingFor(wasAlias: boolean): Spelling {
    const { isAlias, isNeutral } = this.words;
    return this.endpoint.spellings.spellingFor(isAlias || (!isNeutral && wasAlias));
  }

  get callerIp(): string {
    return this.endpoint.addresses.of(this.request);
  }

  newMessageId(): MessageId {
    const { random, clock } = this.endpoint.parts;
    return newMessageId(random, clock.nowMs());
  }

  /** @throws Refused 403 */
  mustBeAllowedToChange(): void {
    if (this.grant.role === 'read-only') throw new RefusedRequest(QUEUE_REFUSALS.readOnly);
  }

  /** The owner checks this, too, but not for messages that go to the intake. @throws Refused */
  mustBeAllowedToPublish(): void {
    this.mustBeAllowedToChange();
    if (this.grant.terms.state === 'passive') throw new RefusedRequest(QUEUE_REFUSALS.suspended);
  }

  /** @throws Refused if the owner refuses; errors of the gateway */
  async ask<Type extends QueueReply['type']>(command: QueueCommand, type: Type): Promise<QueueReplyOf<Type>> {
    return expected(await this.endpoint.parts.gateway.ask(this.grant.account, command, this.request.trace), type);
  }

  json(status: number, text: string, headers?: Readonly<Record<string, string>>): void {
    const { context } = this.exchange;
    const whole = { status, text, headers, isLast: this.endpoint.isDraining };
    if (context === undefined) write(this.response, whole);
    else answer(context, whole);
  }

  value(status: number, value: unknown): void {
    this.json(status, JSON.stringify(value));
  }

  /**
   * An answer made in pieces. A short one is written in one, and a failure before that is still a refusal; a later
   * failure closes the connection.
   */
  async pieces(texts: AsyncIterable<string> | Iterable<string>, page: MaybeBehind = {}): Promise<void> {
    const headers = staleHeader(page);
    let text = '';
    let hasBegun = false;
    for await (const piece of texts) {
      text += piece;
      if (text.length < GATHERED_CHARACTERS) continue;
      if (!hasBegun) this.#begin(headers);
      hasBegun = true;
      if (!(await this.#write(text))) return;
      text = '';
    }
    if (hasBegun) this.response.end(text, 'utf8');
    else this.json(200, text, headers);
  }

  /** A success without a value. */
  done(): void {
    this.json(200, '{}');
  }

  /**
   * Answers a failure. For a step that can never be accepted it first fails the run, because the endpoint would send
   * the same step again.
   */
  async fail(failure: unknown): Promise<void> {
    const refused = this.endpoint.incidents.refused(failure, queueRefusalOf);
    const { runOfStep: runId } = this;
    const { status, isRunOver = false, text } = refused.refusal;
    // The size limit applies before the route checks the token's rights.
    const mayEndRuns = this.grant.role !== 'read-only';
    if (!mayEndRuns || runId === undefined || !isRunId(runId) || isRunOver || !FINAL_FOR_STEPS.has(status)) {
      this.refuse(refused);
      return;
    }
    const command = { type: 'RefuseStep', runId, error: `the step was refused: ${text}` } as const;
    // Without an owner the run continues, and its next attempt gets here again.
    await this.endpoint.parts.gateway.ask(this.grant.account, command, this.request.trace).catch(() => undefined);
    this.refuse(refused);
  }

  refuse({ refusal: plain, headers, words, isPassing }: RefusedRequest): void {
    if (isPassing && (this.isOfRun || this.isByEndpoint)) {
      this.#takeOver();
      cutOff(this.request);
      return;
    }
    if (this.response.headersSent) {
      this.#takeOver();
      // In the middle of a list: the client must not take it as complete.
      if (!this.response.writableEnded) this.response.destroy();
      return;
    }
    const refusal = this.isOfRun ? refusalToRun(plain) : plain;
    const spelling = words === undefined ? this.spellingFor(false) : this.endpoint.spellings.spellingFor(words.isAlias);
    const text = JSON.stringify({ error: spelling.text(refusal.text) });
    this.#takeOver();
    writeRefusal(this, { refusal, headers }, { text, isLast: this.endpoint.isDraining });
  }

  /** The position of the account's journal, up to which read models are asked to be current. */
  async position(): Promise<number> {
    return (await this.ask({ type: 'GetPosition' }, 'Position')).position;
  }

  /**
   * A list of records, encoded one after the other so that they are not all in memory.
   * @param frame the texts before and after the list; with more texts the list is repeated between them
   * @param page of a read model that the records come from
   */
  list<Item>(
    frame: readonly string[],
    items: readonly Item[],
    record: (item: Item) => unknown,
    page: MaybeBehind = {},
  ): Promise<void> {
    return this.pieces(framed(frame, items, record), page);
  }

  /** Writes from here on, without Koa. */
  #takeOver(): void {
    if (this.exchange.context !== undefined) takeOver(this.exchange.context);
  }

  #begin(headers: Readonly<Record<string, string>> = {}): void {
    this.#takeOver();
    const list = ['Content-Type', 'application/json'];
    for (const name in headers) list.push(name, headers[name] as string);
    if (this.endpoint.isDraining) list.push('Connection', 'close');
    this.response.writeHead(200, list);
  }

  /** @returns false after the client has disconnected */
  async #write(text: string): Promise<boolean> {
    const { response } = this;
    if (response.destroyed) return false;
    // A fast socket drains synchronously, so other requests would not run.
    if (!response.write(text, 'utf8')) await whenDrained(response);
    await this.endpoint.yieldToEventLoop();
    return !response.destroyed;
  }
}

export function rawHeadersOf({ request, passed }: CallExchange): readonly string[] {
  return passed?.rawHeaders ?? request.rawHeaders;
}

/** The reply of a command that was not refused. @throws Refused */
export function expected<Type extends QueueReply['type']>(reply: QueueReply, type: Type): QueueReplyOf<Type> {
  if (reply.type === 'Rejected') {
    const headers = reply.daily === undefined ? {} : dailyHeaders(reply.daily);
    throw new RefusedRequest(rejectionRefusal(reply.reason, reply.message), headers);
  }
  assert(reply.type === type, 'a reply that does not answer its command', { reply: reply.type, expected: type });
  return reply as QueueReplyOf<Type>;
}

/** The JSON of each, with commas between. */
export function* texts<Item>(items: readonly Item[], record: (item: Item) => unknown): Iterable<string> {
  for (const [at, item] of items.entries()) yield `${at === 0 ? '' : ','}${JSON.stringify(record(item))}`;
}

function* framed<Item>(
  frame: readonly string[],
  items: readonly Item[],
  record: (item: Item) => unknown,
): Iterable<string> {
  for (const before of frame.slice(0, -1)) {
    yield before;
    yield* texts(items, record);
  }
  yield frame.at(-1) as string;
}

/** The end of a page. The last page has no cursor: an empty one would promise another page. */
export function endOfPage(cursor: string | undefined): string {
  return cursor === undefined || cursor === '' ? ']}' : `],"cursor":${JSON.stringify(cursor)}}`;
}

/** The only item of a reply's list. */
export function only<Item>([found]: readonly Item[]): Item {
  assert(found !== undefined, 'something that was found is missing');
  return found;
}

/**
 * Closes the connection without an answer. An endpoint's client retries after that, but it takes any answer, such as
 * a 503, as the result: it would fail its delivery and cost the run a retry for a fault of the server.
 */
export function cutOff(request: ReceivedRequest): void {
  request.socket.destroy();
}

/** A read-only token may `read`; a suspended account may not `publish`. */
type QueueRight = 'read' | 'change' | 'publish';

/**
 * A route of the queue or of workflows. `bodyBound`: the size limit is that of a `message` or a `batch`; default:
 * that of JSON. `boundBy`: publishing counts against the `day`; requests of a `run` have no limit, because a started
 * run would fail after some attempts because of other callers' requests.
 */
export type QueueRoute = Route<QueueCall, QueueRight>;
export const queueRoute = routesOf<QueueCall, QueueRight>();

/** A frequent call, which is answered in front of Koa. It is begun before its body is read. */
export interface HotRoute extends Described {
  /** @throws Refused by a check that needs no body */
  begin(call: QueueCall): BegunCall;
}

export interface BegunCall {
  readonly maxBodyBytes: number;
  /** Executes and answers the call. @throws Refused, immediately or later; errors of the gateway */
  take(body: Buffer): Promise<void>;
}
