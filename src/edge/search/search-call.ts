/**
 * One request of a search index and its answer.
 *
 *  SC1 an answer is written once, head and body together, with its length
 *  SC2 a success is `{"result": …}`, a refusal `{"error": "…", "status": …}`
 */
import type { StoredDocument } from '../../domain/search/index.js';
import { assert } from '../../kernel/index.js';
import type { SearchGrant } from '../../ports/index.js';
import { answer, type PipelineContext } from '../http/application.js';
import { parsed } from '../http/json-scanner.js';
import { answerHeaders } from './cors.js';
import { type DocumentStore, searchDocuments } from './document-store.js';
import { WRITTEN_DOCUMENTS } from './endpoint-limits.js';
import type { SearchEndpoint } from './search-endpoint.js';
import type { SearchTarget } from './search-target.js';

/** State of a request that has passed all checks. */
interface CheckedState {
  readonly target: SearchTarget;
  readonly grant: SearchGrant;
}

export class SearchCall {
  readonly store: DocumentStore<StoredDocument>;
  readonly startedAtMs: number;
  readonly target: SearchTarget;
  readonly grant: SearchGrant;
  /** The body as it arrived. */
  readonly body: Buffer;
  bytesOut = 0;

  constructor(
    readonly endpoint: SearchEndpoint,
    private readonly context: PipelineContext<CheckedState>,
  ) {
    const { target, grant, body } = context.state;
    assert(body !== undefined, 'a call whose body was not read');
    this.target = target;
    this.grant = grant;
    this.body = body;
    this.store = searchDocuments(endpoint.parts.gateway, grant.index);
    this.startedAtMs = endpoint.parts.clock.monotonicMs();
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
    return !this.context.res.destroyed;
  }

  get elapsedMs(): number {
    return this.endpoint.parts.clock.monotonicMs() - this.startedAtMs;
  }

  result(value: unknown): void {
    this.resultText(JSON.stringify(value));
  }

  /** @param json the result as JSON */
  resultText(json: string): void {
    this.#answer(`{"result":${json}}`);
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
      if (at > 0 && at % WRITTEN_DOCUMENTS === 0) await this.endpoint.yieldToEventLoop();
      text += `${at === 0 ? '' : ','}${JSON.stringify(shown(items[at] as Item))}`;
    }
    this.#answer(`${text}]${after}}`);
  }

  #answer(text: string): void {
    answer(this.context, { status: 200, text, headers: answerHeaders(this.context), isLast: this.endpoint.isDraining });
    this.bytesOut = this.isAwaited ? this.context.length : 0;
  }
}
