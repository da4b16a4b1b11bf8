/** Libraries of functions: source texts by name. What they register is known to whoever runs them. */
import type { ByteString } from '../../kernel/index.js';

export class Libraries {
  readonly #sources = new Map<ByteString, ByteString>();
  /** Grows with every change, so that compiled forms know that they are old. */
  version = 0;

  get(name: ByteString): ByteString | undefined {
    return this.#sources.get(name);
  }

  set(name: ByteString, source: ByteString): void {
    this.#sources.set(name, source);
    this.version += 1;
  }

  delete(name: ByteString): boolean {
    this.version += 1;
    return this.#sources.delete(name);
  }

  clear(): void {
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
