/**
 * In-memory engines. Their entries are followed like a journal, by a second engine and by the projection that answers
 * queries.
 */
import { RespCommandReader } from '../../src/codec/resp/index.js';
import { KvEngine } from '../../src/domain/kv/index.js';
import { HashedNgrams } from '../../src/domain/search/index.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import type {
  SearchHit,
  SearchIndexInfo,
  SearchQueries,
  SearchQuery,
  VectorHits,
  VectorQueries,
  VectorQuery,
} from '../../src/ports/index.js';
import { rank, rankVectors, SearchDatabase, VectorDatabase } from '../../src/projections/search-index/index.js';
import type { KvRequest, KvResponse } from '../../src/protocol/index.js';
import { MemoryKvGateway } from './memory-kv-gateway.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };

/** A gateway for one search database or vector index. */
export class FollowedGateway extends MemoryKvGateway implements SearchQueries, VectorQueries {
  readonly replayed = new KvEngine(RANDOM, { nowMicros: () => 0, info: () => new Map() });

  constructor(readonly projected: SearchDatabase | VectorDatabase = new SearchDatabase(new HashedNgrams())) {
    super();
  }

  override async execute(request: KvRequest): Promise<KvResponse> {
    const { effects } = this.engineOf(request.partition);
    const take = effects.take.bind(effects);
    effects.take = () => {
      const taken = take();
      this.#follow(taken);
      return taken;
    };
    try {
      return await super.execute(request);
    } finally {
      effects.take = take;
    }
  }

  async search(_index: DatabaseId, name: string, query: SearchQuery): Promise<readonly SearchHit[]> {
    const { projected } = this;
    const named = projected instanceof SearchDatabase ? projected.index(name) : undefined;
    return named === undefined ? [] : ended(rank(named, query));
  }

  async queryVectors(_index: DatabaseId, name: string, query: VectorQuery): Promise<VectorHits> {
    const { projected } = this;
    const namespace = projected instanceof VectorDatabase ? projected.index(name) : undefined;
    return namespace === undefined ? { hits: [] } : ended(rankVectors(namespace, query));
  }

  async info(): Promise<SearchIndexInfo> {
    return this.projected.info();
  }

  #follow(effects: Buffer): void {
    for (const words of new RespCommandReader(effects)) {
      this.replayed.replay(words);
      for (const _slice of this.projected.apply(words));
    }
  }
}

function ended<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
