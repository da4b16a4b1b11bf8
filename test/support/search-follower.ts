/** Engines in memory, followed as the journal is: by another engine, and by the projection that searches. */
import { RespCommandReader } from '../../src/codec/resp/index.js';
import { KvEngine } from '../../src/domain/kv/index.js';
import { documentsKey, HashedNgrams } from '../../src/domain/search/index.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import type { SearchHit, SearchIndexInfo, SearchQueries, SearchQuery } from '../../src/ports/index.js';
import { rank, SearchDatabase } from '../../src/projections/search-index/index.js';
import type { KvRequest, KvResponse } from '../../src/protocol/index.js';
import { MemoryKvGateway } from './memory-kv-gateway.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };

/** Of one search database. */
export class FollowedGateway extends MemoryKvGateway implements SearchQueries {
  readonly replayed = new KvEngine(RANDOM, { nowMicros: () => 0, info: () => new Map() });
  readonly projected = new SearchDatabase(new HashedNgrams());

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
    const named = this.projected.index(documentsKey(name));
    if (named === undefined) return [];
    const search = rank(named, query);
    for (;;) {
      const step = search.next();
      if (step.done === true) return step.value;
    }
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
