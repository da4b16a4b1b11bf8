/**
 * One request of an account and its answer: what has been found out about the request, the ways to the account's
 * queue, and the only place that writes.
 *
 * Invariants
 *  QC1 an answer is written once, head and body together, with its length; a long list alone goes out in pieces
 *  QC2 every refusal is `{"error": "…"}`, spelled as the request is, or as the headers in its body that it is about
 */
import type { ServerResponse } from 'node:http';
import { newMessageId, type QueueCommand, type QueueReply, type QueueReplyOf } from '../../domain/queue/index.js';
import { assert, type MessageId } from '../../kernel/index.js';
import type { MaybeBehind, QueueGrant } from '../../ports/index.js';
import { QUEUE_REFUSALS, refusalToRun, rejectionRefusal } from '../error-map.js';
import { whenDrained, write, writeRefusal } from '../http/answer.js';
import type { FaceRequest } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { type Route, routesOf } from '../http/route.js';
import { staleHeader } from '../http/stale-header.js';
import type { Spelling } from '../wire-alias.js';
import type { CallWords } from './call-words.js';
import { splitTarget } from './destination.js';
import { dailyHeaders } from './publish-answer.js';
import type { QueueFace } from './queue-face.js';

/** Text of a list that is gathered before the answer begins; a longer one goes out as it is made. */
const GATHERED_CHARACTERS = 64 * 1024;

export class QueueCall {
  constructor(
    readonly face: QueueFace,
    readonly request: FaceRequest,
    readonly response: ServerResponse,
    readonly words: CallWords,
    readonly grant: QueueGrant,
  ) {}

  get path(): string {
    return splitTarget(this.request.url as string).path;
  }

  /** The body as it came; empty for methods whose body means nothing. */
  body: Buffer = Buffer.alloc(0);

  /** Asked by an endpoint in the middle of a workflow's run: refusals are told so that it understands them. */
  isOfRun = false;

  /** Asked by one, whatever it asks. When that cannot be answered for a while, its client has to ask again by itself. */
  isByEndpoint = false;

  /** How records are spelled: as the request, else as they were made. */
  spellingFor(wasAlias: boolean): Spelling {
    const { isAlias, isNeutral } = this.words;
    return this.face.spellings.spellingFor(isAlias || (!isNeutral && wasAlias));
  }

  get callerIp(): string {
    return this.face.addresses.of(this.request);
  }

  newMessageId(): MessageId {
    const { random, clock } = this.face.parts;
    return newMessageId(random, clock.nowMs());
  }

  /** @throws Refused 403 */
  mustBeAllowedToChange(): void {
    if (this.grant.role === 'read-only') throw new RefusedRequest(QUEUE_REFUSALS.readOnly);
  }

  /** The owner judges it too; but what is told while nobody owns the account has no other judge. @throws Refused */
  mustBeAllowedToPublish(): void {
    this.mustBeAllowedToChange();
    if (this.grant.terms.state === 'passive') throw new RefusedRequest(QUEUE_REFUSALS.suspended);
  }

  /** @throws Refused when the owner refuses; what the gateway throws */
  async ask<Type extends QueueReply['type']>(command: QueueCommand, type: Type): Promise<QueueReplyOf<Type>> {
    return expected(await this.face.parts.gateway.ask(this.grant.account, command, this.request.trace), type);
  }

  json(status: number, text: string, headers?: Readonly<Record<string, string>>): void {
    write(this.response, { status, text, headers, isLast: this.face.isDraining });
  }

  value(status: number, value: unknown): void {
    this.json(status, JSON.stringify(value));
  }

  /**
   * An answer that is made piece by piece: a short one goes out in one, before which any failure is still a refusal.
   * A failure after that cuts the answer off.
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

  /** A success that has nothing to say. */
  done(): void {
    this.json(200, '{}');
  }

  refuse({ refusal: plain, headers, words, isPassing }: RefusedRequest): void {
    if (isPassing && (this.isOfRun || this.isByEndpoint)) {
      cutOff(this.request);
      return;
    }
    if (this.response.headersSent) {
      // In the middle of a list: whoever reads it must not take it for whole.
      if (!this.response.writableEnded) this.response.destroy();
      return;
    }
    const refusal = this.isOfRun ? refusalToRun(plain) : plain;
    const spelling = words === undefined ? this.spellingFor(false) : this.face.spellings.spellingFor(words.isAlias);
    const text = JSON.stringify({ error: spelling.text(refusal.text) });
    writeRefusal(this, { refusal, headers }, { text, isLast: this.face.isDraining });
  }

  /** Up to which entry of its journal the queue has come: read models are asked for all of that. */
  async position(): Promise<number> {
    return (await this.ask({ type: 'GetPosition' }, 'Position')).position;
  }

  /**
   * A list of records, made one after the other so that nothing waits for all of them.
   * @param frame what stands before the list and after it; with more between, the list is there again each time
   * @param page that they are of, where it came from a read model
   */
  list<Item>(
    frame: readonly string[],
    items: readonly Item[],
    record: (item: Item) => unknown,
    page: MaybeBehind = {},
  ): Promise<void> {
    return this.pieces(framed(frame, items, record), page);
  }

  #begin(headers: Readonly<Record<string, string>> = {}): void {
    const list = ['Content-Type', 'application/json'];
    for (const name in headers) list.push(name, headers[name] as string);
    if (this.face.isDraining) list.push('Connection', 'close');
    this.response.writeHead(200, list);
  }

  /** @returns false once the client is gone */
  async #write(text: string): Promise<boolean> {
    const { response } = this;
    if (response.destroyed) return false;
    // A socket that takes all at once drains without letting anybody run.
    if (!response.write(text, 'utf8')) await whenDrained(response);
    await this.face.breathe();
    return !response.destroyed;
  }
}

/** The reply that a command has when it is not refused. @throws Refused */
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

/** What stands behind the records of a page. The last page has no cursor: an empty one would promise another page. */
export function endOfPage(cursor: string | undefined): string {
  return cursor === undefined || cursor === '' ? ']}' : `],"cursor":${JSON.stringify(cursor)}}`;
}

/** The one thing that was asked for: a reply has it in a list. */
export function only<Item>([found]: readonly Item[]): Item {
  assert(found !== undefined, 'something that was found is missing');
  return found;
}

/**
 * An endpoint takes every answer for the end of what it asked: a 503 makes it fail the delivery that it is working on,
 * which costs its run a retry for what was ours. A connection that ends without an answer its client tries again.
 */
export function cutOff(request: FaceRequest): void {
  request.socket.destroy();
}

/** A read-only token may `read`; a suspended account may not `publish`. */
type QueueRight = 'read' | 'change' | 'publish';

/**
 * A route of the queue or of workflows, which answers by its call. `bodyBound`: the body is as long as a `message` or a
 * `batch` may be; else as JSON may be. `boundBy`: the `day` bounds all that publishes; nothing bounds what a `run` asks,
 * since a run that has begun would fail, after some attempts, for what others ask.
 */
export type QueueRoute = Route<QueueCall, QueueRight>;
export const queueRoute = routesOf<QueueCall, QueueRight>();
