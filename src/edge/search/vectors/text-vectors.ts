/** Vectors of texts, by the models of the index: hashed here, or from the provider of embeddings. */
import {
  hasDense,
  hashedText,
  hasSparse,
  isHashing,
  type SparseVector,
  sparseOfDocument,
  sparseOfQuery,
  type VectorShape,
} from '../../../domain/search/index.js';
import type { Embeddings } from '../../../ports/index.js';
import { RefusedRequest } from '../../http/refused.js';
import { type QueryMode, unfit, type VectorParts } from './vector-bodies.js';

const NOT_ALLOWED =
  'Embedding data for this index is not allowed. The index must be created with an embedding model to use it.';
/** Texts hashed in one slice: some milliseconds. */
const SLICE_TEXTS = 50;

export class TextVectors {
  constructor(
    private readonly embeddings: Embeddings | undefined,
    private readonly yieldToEventLoop: () => Promise<void>,
  ) {}

  /** Can the index embed a text as a document? A hybrid index needs both models. @throws Refused 422 */
  mustEmbed(shape: VectorShape): void {
    const lacksDense = hasDense(shape) && shape.denseModel === '';
    const lacksSparse = hasSparse(shape) && shape.sparseModel === '';
    if (lacksDense || lacksSparse) throw unfit(NOT_ALLOWED);
  }

  /** @throws Refused 422 for an index without models, 503 without an answer of the provider */
  async ofDocuments(shape: VectorShape, texts: readonly string[]): Promise<readonly VectorParts[]> {
    this.mustEmbed(shape);
    const dense = hasDense(shape) ? await this.#dense(shape, texts) : [];
    return texts.map((text, at) => ({
      dense: dense[at],
      sparse: hasSparse(shape) ? sparseOfDocument(text) : undefined,
    }));
  }

  /** @param mode which parts of a hybrid index are searched. @throws as `ofDocuments` */
  async ofQuery(shape: VectorShape, text: string, mode: QueryMode): Promise<VectorParts> {
    const wantsDense = hasDense(shape) && mode !== 'SPARSE';
    const wantsSparse = hasSparse(shape) && mode !== 'DENSE';
    if ((wantsDense && shape.denseModel === '') || (wantsSparse && shape.sparseModel === '')) throw unfit(NOT_ALLOWED);
    if (!wantsDense && !wantsSparse) throw unfit(`queryMode: a ${shape.kind.toLowerCase()} index has no such part`);
    const [dense] = wantsDense ? await this.#dense(shape, [text]) : [];
    const sparse: SparseVector | undefined = wantsSparse ? sparseOfQuery(text) : undefined;
    return { dense, sparse };
  }

  async #dense({ denseModel, dimension }: VectorShape, texts: readonly string[]): Promise<readonly Float32Array[]> {
    if (!isHashing(denseModel)) return this.#provided(denseModel, dimension, texts);
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      if (vectors.length > 0 && vectors.length % SLICE_TEXTS === 0) await this.yieldToEventLoop();
      vectors.push(hashedText(text, dimension));
    }
    return vectors;
  }

  async #provided(model: string, dimension: number, texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { embeddings } = this;
    if (embeddings === undefined) {
      throw new RefusedRequest({ status: 503, text: `${model}: this server has no provider of embeddings any more` });
    }
    const vectors = await embeddings.embed(model, dimension, texts);
    if (typeof vectors === 'string') throw new RefusedRequest({ status: 503, text: vectors });
    return vectors;
  }
}
