/**
 * One request of a search index and its answer: what has been found out about the request, and the only place that
 * writes.
 *
 *  E1 an answer is written once, head and body together, with its length
 *  E2 a success is `{"result": …}`, a refusal `{"error": "…", "status": …}`
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SearchGrant } from '../../ports/index.js';
import { answerUnread, discardBody, endInOnePiece, isLongBody } from '../http/index.js';
import type { Refused } from '../http/refused.js';
import { answerHeaders } from './cors.js';
import { DocumentStore } from './document-store.js';
import { WRITTEN_DOCUMENTS } from './face-limits.js';
import type { SearchFace } from './search-face.js';
import type { SearchTarget } from './search-target.js';

export class SearchCall {
  readonly store: DocumentStore;
  readonly startedAtMs: number;
  bytesOut = 0;

  constructor(
    readonly face: SearchFace,
    readonly answer: SearchAnswer,
    readonly target: SearchTarget,
    readonly grant: SearchGrant,
    /** As it came. */
    readonly body: Buffer,
  ) {
    this.store = new DocumentStore(face.parts.gateway, grant.index);
    this.startedAtMs = face.parts.clock.monotonicMs();
  }

  /** Of the index; '' for commands without one. */
  get name(): string {
    return this.target.name ?? '';
  }

  /** Is there still somebody who waits for the answer? */
  get isAwaited(): boolean {
    return !this.answer.response.destroyed;
  }

  get elapsedMs(): number {
    return this.face.parts.clock.monotonicMs() - this.startedAtMs;
  }

  result(value: unknown): void {
    this.bytesOut = this.answer.json(200, `{"result":${JSON.stringify(value)}}`);
  }

  /** A list of documents, made one after the other so that nothing waits for all of them. */
  async results<Item>(
    before: string,
    items: readonly Item[],
    shown: (item: Item) => unknown,
    after = '',
  ): Promise<void> {
    let text = `{"result":${before}[`;
    for (let at = 0; at < items.length; at += 1) {
      if (at > 0 && at % WRITTEN_DOCUMENTS === 0) await this.face.breathe();
      text += `${at === 0 ? '' : ','}${JSON.stringify(shown(items[at] as Item))}`;
    }
    this.bytesOut = this.answer.json(200, `${text}]${after}}`);
  }
}

export class SearchAnswer {
  #leavesBody = false;

  constructor(
    readonly face: SearchFace,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {}

  /** @returns bytes of the body */
  json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): number {
    const { response, request } = this;
    if (response.destroyed || response.headersSent) return 0;
    const bytes = Buffer.byteLength(text);
    const list = ['Content-Type', 'application/json', 'Content-Length', String(bytes), ...answerHeaders(request)];
    for (const [name, value] of Object.entries(headers)) list.push(name, value);
    this.#write(status, list, text, bytes);
    return bytes;
  }

  /** Nothing but a head, for anybody: a long body is not read. */
  empty(headers: readonly string[]): void {
    this.#leavesBody = isLongBody(this.request);
    if (!this.response.destroyed) this.#write(200, ['Content-Length', '0', ...headers], '', 0);
  }

  /** Before the body was asked for: a long one is not read. */
  refuseUnread(refused: Refused): void {
    this.#leavesBody = isLongBody(this.request);
    this.refuse(refused);
  }

  refuse({ refusal, headers }: Refused): void {
    const { status, text, retryAfterSeconds } = refusal;
    const after = retryAfterSeconds === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterSeconds) };
    this.json(status, JSON.stringify({ error: text, status }), after);
    if (!this.#leavesBody) discardBody(this.request);
  }

  #write(status: number, headers: string[], text: string, bytes: number): void {
    if (this.face.isDraining || this.#leavesBody) headers.push('Connection', 'close');
    this.response.writeHead(status, headers);
    if (this.#leavesBody) answerUnread(this.request, this.response, text);
    else endInOnePiece(this.response, text, 'utf8', bytes);
  }
}
