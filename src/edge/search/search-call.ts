/**
 * One request of a search index and its answer. The call has the parsed request; only the answer writes.
 *
 *  SC1 an answer is written once, head and body together, with its length
 *  SC2 a success is `{"result": …}`, a refusal `{"error": "…", "status": …}`
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SearchGrant } from '../../ports/index.js';
import { write, writeRefusal } from '../http/answer.js';
import { isLongBody } from '../http/index.js';
import { parsed } from '../http/json-bounds.js';
import type { RefusedRequest } from '../http/refused.js';
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
    /** The body as it arrived. */
    readonly body: Buffer,
  ) {
    this.store = new DocumentStore(face.parts.gateway, grant.index);
    this.startedAtMs = face.parts.clock.monotonicMs();
  }

  /** The name of the index; '' for commands about all indexes. */
  get name(): string {
    return this.target.name ?? '';
  }

  /** The body of any command but upsert, short enough to parse in one call. @throws Refused 400 */
  get json(): unknown {
    return this.body.length === 0 ? {} : parsed(this.body);
  }

  /** Is the client still connected? */
  get isAwaited(): boolean {
    return !this.answer.response.destroyed;
  }

  get elapsedMs(): number {
    return this.face.parts.clock.monotonicMs() - this.startedAtMs;
  }

  result(value: unknown): void {
    this.bytesOut = this.answer.json(200, `{"result":${JSON.stringify(value)}}`);
  }

  /** Answers a list of documents, encoded in slices so that other requests run in between. */
  async results<Item>(
    before: string,
    items: readonly Item[],
    shown: (item: Item) => unknown,
    after = '',
  ): Promise<void> {
    let text = `{"result":${before}[`;
    for (let at = 0; at < items.length; at += 1) {
      if (at > 0 && at % WRITTEN_DOCUMENTS === 0) await this.face.yieldToEventLoop();
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

  /** @returns the bytes of the body */
  json(status: number, text: string): number {
    return write(this.response, { status, text, headers: answerHeaders(this.request), isLast: this.face.isDraining });
  }

  /** Answers with only a head. Any client may request it, so a long request body is not read. */
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

  /** @param leavesBody for a refusal before the body is read; a long body is then left unread */
  refuse(refused: RefusedRequest, leavesBody = false): void {
    const { status, text: error } = refused.refusal;
    const text = JSON.stringify({ error, status });
    const headers = answerHeaders(this.request);
    writeRefusal(this, refused, { text, headers, isLast: this.face.isDraining, leavesBody });
  }
}
