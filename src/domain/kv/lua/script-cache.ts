/** Scripts by digest, for EVALSHA. Bounded: the least recently used script is dropped. */
import type { ByteString } from '../../../kernel/index.js';
import { MAX_CACHED_SCRIPT_BYTES, MAX_CACHED_SCRIPTS } from './lua-limits.js';
import { sha1 } from './redis-library.js';
import { type ScriptHeader, scriptHeader } from './shebang.js';

export interface CachedScript extends ScriptHeader {
  readonly digest: ByteString;
  readonly source: ByteString;
}

export class ScriptCache {
  readonly #byDigest = new Map<ByteString, CachedScript>();
  /** Computing a digest takes longer than a lookup, and EVAL is mostly called with the same few texts. */
  readonly #bySource = new Map<ByteString, CachedScript>();
  #bytes = 0;
  #last: CachedScript | undefined;

  has(digest: ByteString): boolean {
    return this.#byDigest.has(digest);
  }

  /** Bytes of all sources. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#byDigest.size;
  }

  get(digest: ByteString): CachedScript | undefined {
    if (this.#last?.digest === digest) return this.#last;
    const script = this.#byDigest.get(digest);
    if (script !== undefined) {
      this.#byDigest.delete(digest);
      this.#byDigest.set(digest, script);
      this.#last = script;
    }
    return script;
  }

  /** The script with that source, cached or not; only `keep` caches it. @throws ErrorReply */
  ofSource(source: ByteString): CachedScript {
    const known = this.#bySource.get(source);
    if (known !== undefined) return this.get(known.digest) ?? known;
    return { ...scriptHeader(source), digest: sha1(source), source };
  }

  keep(script: CachedScript): void {
    if (this.#byDigest.has(script.digest)) return;
    this.#byDigest.set(script.digest, script);
    this.#bySource.set(script.source, script);
    this.#bytes += script.source.length;
    for (const [digest, { source }] of this.#byDigest) {
      if (this.#byDigest.size <= MAX_CACHED_SCRIPTS && this.#bytes <= MAX_CACHED_SCRIPT_BYTES) break;
      this.#byDigest.delete(digest);
      this.#bySource.delete(source);
      this.#bytes -= source.length;
      this.#last = undefined;
    }
  }

  clear(): void {
    this.#byDigest.clear();
    this.#bySource.clear();
    this.#bytes = 0;
    this.#last = undefined;
  }
}
