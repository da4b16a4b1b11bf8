/** One request of an index of vectors and its answer, in the forms of a search index. */
import type { VectorShape } from '../../../domain/search/index.js';
import { assert } from '../../../kernel/index.js';
import { type Route, routesOf } from '../../http/route.js';
import { SearchCall } from '../search-call.js';
import { TextVectors } from './text-vectors.js';
import { VectorStore } from './vector-store.js';

/** The read-only token may use commands with the permission `read`. */
export type VectorRoute = Route<VectorCall, 'read' | 'write'>;
export const vectorRoute = routesOf<VectorCall, 'read' | 'write'>();

export class VectorCall extends SearchCall {
  readonly vectors = new VectorStore(this.endpoint.parts.gateway, this.grant.index);
  readonly texts = new TextVectors(this.endpoint.parts.embeddings, () => this.endpoint.yieldToEventLoop());

  get shape(): VectorShape {
    const { vectors } = this.grant;
    assert(vectors !== undefined, 'a call of an index of vectors without a kind');
    return vectors;
  }

  /** JSON of a list, made in slices so that other requests run in between. @param perSlice items of one slice */
  async listText<Item>(items: readonly Item[], shown: (item: Item) => unknown, perSlice: number): Promise<string> {
    const texts: string[] = [];
    for (const item of items) {
      if (texts.length > 0 && texts.length % perSlice === 0) await this.endpoint.yieldToEventLoop();
      texts.push(JSON.stringify(shown(item)));
    }
    return `[${texts.join(',')}]`;
  }

  /** Counts the bytes of a call that is neither a query nor an update. */
  transferred(): void {
    const { body, bytesOut } = this;
    this.endpoint.parts.meter.recordSearch(this.grant.index, { bytesIn: body.length, bytesOut });
  }
}
