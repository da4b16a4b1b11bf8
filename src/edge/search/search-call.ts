/**
 * One request of a search index and its answer: what has been found out about the request, and the only place that
 * writes.
 *
 *  E1 an answer is written once, head and body together, with its length
 *  E2 a success is `{"result": …}`, a refusal `{"error": "…", "status": …}`
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SearchGrant } from '../../ports/index.js';
import { write, writeRefusal } from '../http/answer.js';
import { isLongBody } from '../http/index.js';
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
  constructor(
    readonly face: SearchFace,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
  ) {}

  /** @returns bytes of the body */
  json(status: number, text: string): number {
    return write(this.response, { status, text, headers: answerHeaders(this.request), isLast: this.face.isDraining });
  }

  /** Nothing but a head, for anybody: a long body is not read. */
  empty(headers: Readonly<Record<string, string>>): void {
    const { request, response } = this;
    write(response, {
      status: 200,
      text: '',
      type: '',
      headers,
      isLast: this.face.isDraining,
      leavesBody: isLongBody(request),
    });
  }

  /** @param leavesBody before the body was asked for: a long one is not read */
  refuse(refused: Refused, leavesBody = false): void {
    const { status, text: error } = refused.refusal;
    const text = JSON.stringify({ error, status });
    const headers = answerHeaders(this.request);
    writeRefusal(this, refused, { text, headers, isLast: this.face.isDraining, leavesBody });
  }
}
