/**
 * A minimal state that refers to bodies by number: `PUT <number> <content>` adds a body, `DROP <number>` releases it.
 */
import { createHash } from 'node:crypto';
import { encodeCommand, RespCommandReader } from '../../src/codec/resp/index.js';
import type { BodySource, PartitionFold } from '../../src/journal/index.js';

export class BodyFold implements PartitionFold {
  readonly #needed = new Set<number>();
  readonly #fresh = new Map<number, Uint8Array>();
  readonly bodies: BodySource = {
    fresh: () => [...this.#fresh].sort(([a], [b]) => a - b),
    forgetFresh: () => this.#fresh.clear(),
    isNeeded: (number) => this.#needed.has(number),
  };

  apply(effects: Uint8Array): void {
    for (const [verb, number, content] of wordsOf(effects)) {
      if (verb === 'DROP') {
        this.#needed.delete(Number(number));
        this.#fresh.delete(Number(number));
        continue;
      }
      this.#needed.add(Number(number));
      if (content !== undefined) this.#fresh.set(Number(number), Buffer.from(content, 'latin1'));
    }
  }

  *applyInSlices(effects: Uint8Array): Iterable<void> {
    this.apply(effects);
    yield;
  }

  /** A snapshot has only the numbers, as `KEEP <number>`. */
  *segments(): Iterable<Uint8Array> {
    const kept = [...this.#needed].sort((a, b) => a - b).map((number) => encodeCommand(['KEEP', String(number)]));
    if (kept.length > 0) yield Buffer.from(kept.join(''), 'latin1');
  }

  digest(): string {
    return createHash('sha256')
      .update([...this.#needed].sort((a, b) => a - b).join())
      .digest('hex');
  }

  get size(): number {
    return this.#needed.size;
  }
}

export function* bodiesPut(effects: Uint8Array): Iterable<readonly [number, Uint8Array] | undefined> {
  for (const [verb, number, content] of wordsOf(effects)) {
    yield verb === 'PUT' && content !== undefined ? [Number(number), Buffer.from(content, 'latin1')] : undefined;
  }
}

function wordsOf(effects: Uint8Array): Iterable<readonly string[]> {
  return new RespCommandReader(Buffer.from(effects.buffer, effects.byteOffset, effects.byteLength));
}
