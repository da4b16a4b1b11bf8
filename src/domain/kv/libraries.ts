/**
 * The function libraries of a database: source texts by name. The functions that they register are known only to the
 * script host.
 */
import type { ByteString } from '../../kernel/index.js';

export class Libraries {
  readonly #sources = new Map<ByteString, ByteString>();
  #bytes = 0;
  /** Grows with every change, so that compiled libraries are known to be outdated. */
  version = 0;

  get(name: ByteString): ByteString | undefined {
    return this.#sources.get(name);
  }

  /** Bytes of all sources. */
  get bytes(): number {
    return this.#bytes;
  }

  set(name: ByteString, source: ByteString): void {
    this.#bytes += source.length - this.#lengthOf(name);
    this.#sources.set(name, source);
    this.version += 1;
  }

  delete(name: ByteString): boolean {
    this.version += 1;
    this.#bytes -= this.#lengthOf(name);
    return this.#sources.delete(name);
  }

  #lengthOf(name: ByteString): number {
    return this.#sources.get(name)?.length ?? 0;
  }

  clear(): void {
    this.#bytes = 0;
    this.#sources.clear();
    this.version += 1;
  }

  get size(): number {
    return this.#sources.size;
  }

  entries(): IterableIterator<[ByteString, ByteString]> {
    return this.#sources.entries();
  }
}
