/**
 * The keys with contents outside of the keyspace: indexes (type `search`), and vectors that are enough for a graph in a
 * file. A key that had enough vectors once stays here until it is deleted or replaced.
 */
import type { ByteString } from '../../kernel/index.js';
import type { Value } from './value.js';

export class DerivedKeys {
  #searches = new Set<ByteString>();
  #graphs = new Set<ByteString>();
  /** Grows with every change of the keys of type `search`, also when a value is replaced by another one. */
  searchVersion = 0;
  /** The same for keys with graphs. */
  graphVersion = 0;

  get searches(): ReadonlySet<ByteString> {
    return this.#searches;
  }

  get graphs(): ReadonlySet<ByteString> {
    return this.#graphs;
  }

  get size(): number {
    return this.#searches.size + this.#graphs.size;
  }

  /** The key has another value; undefined: none. */
  note(key: ByteString, value: Value | undefined): void {
    const collection = typeof value === 'object' ? value : undefined;
    if (isChanged(this.#searches, key, collection?.kind === 'search')) this.searchVersion += 1;
    if (isChanged(this.#graphs, key, collection?.graphFile !== undefined)) this.graphVersion += 1;
  }

  /** The vectors of the key have become enough for a graph in a file, now or earlier. */
  noteGraph(key: ByteString): void {
    if (this.#graphs.has(key)) return;
    this.#graphs.add(key);
    this.graphVersion += 1;
  }

  /** @returns restores the keys */
  clear(): () => void {
    const [searches, graphs] = [this.#searches, this.#graphs];
    this.#replace(new Set(), new Set());
    return () => this.#replace(searches, graphs);
  }

  #replace(searches: Set<ByteString>, graphs: Set<ByteString>): void {
    this.#searches = searches;
    this.#graphs = graphs;
    this.searchVersion += 1;
    this.graphVersion += 1;
  }
}

function isChanged(keys: Set<ByteString>, key: ByteString, belongs: boolean): boolean {
  if (!belongs) return keys.size > 0 && keys.delete(key);
  keys.add(key);
  return true;
}
