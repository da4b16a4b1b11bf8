/**
 * A Bloom filter that grows: a chain of filters, each larger and with half the error rate of the one before. Sizes and
 * hashes are those of Redis, so filters can be exchanged with it.
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { UndoRecorder } from '../../value.js';
import type { Hash64 } from '../murmur64.js';
import { Sketch, type SketchForm } from './sketch.js';

// biome-ignore lint/suspicious/noApproximativeNumericConstant: Redis has these digits, and the number of hashes depends on them
const LN2 = 0.693147180559945;
const LN2_SQUARED = 0.480453013918201;
const TIGHTENING = 0.5;
const OVERHEAD_BYTES = 120;
const LINK_OVERHEAD_BYTES = 200;
/** Redis accepts fewer than a thousand; each one makes lookups slower. */
const MAX_LINKS = 1000;

/** The seed of the first hash; the first hash is the seed of the second. */
export const BLOOM_SEED: Hash64 = { high: 0xc6a4a793, low: 0x5bd1e995 };

export interface BloomLink {
  readonly entries: number;
  readonly error: number;
  readonly bits: number;
  /** Not 0: the filter has 2^n2 bits. */
  readonly n2: number;
  size: number;
  readonly bytes: Buffer;
}

export interface BloomSettings {
  readonly growth: number;
  readonly isFixed: boolean;
}

export interface BloomHash {
  readonly a: Hash64;
  readonly b: Hash64;
}

export function bitsPerEntry(error: number): number {
  return -(Math.log(error) / LN2_SQUARED);
}

export function hashesOf(error: number): number {
  return Math.ceil(LN2 * bitsPerEntry(error));
}

/** The bytes of a filter: whole words of 64 bits. */
function bytesFor(entries: number, error: number): number {
  const bits = Math.max(1, Math.floor(entries * bitsPerEntry(error)));
  return Math.ceil(bits / 64) * 8;
}

export class BloomFilter extends Sketch {
  readonly kind = 'MBbloom--';
  #links: BloomLink[] = [];
  #linkBytes = 0;
  size = 0;

  constructor(readonly settings: BloomSettings) {
    super();
  }

  /** @param error of the whole chain */
  static reserve(entries: number, error: number, settings: BloomSettings): BloomFilter {
    const filter = new BloomFilter(settings);
    filter.#grow(entries, settings.isFixed ? error : error * TIGHTENING);
    return filter;
  }

  static bytesToReserve(entries: number, error: number, { isFixed }: BloomSettings): number {
    return bytesFor(entries, isFixed ? error : error * TIGHTENING);
  }

  /** @throws RangeError for words that no filter has */
  static fromWords(words: readonly ByteString[]): BloomFilter {
    const [growth, isFixed, size, ...links] = words.map(Number);
    const filter = new BloomFilter({ growth: growth ?? 0, isFixed: isFixed === 1 });
    for (let at = 0; at < links.length; at += 6) {
      const [entries = 0, error = 0, bits = 0, n2 = 0, taken = 0, bytes = 0] = links.slice(at, at + 6);
      filter.addLink({ entries, error, bits, n2, size: taken, bytes: Buffer.alloc(bytes) });
    }
    filter.size = size ?? 0;
    return filter;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.#links.length * LINK_OVERHEAD_BYTES + this.#linkBytes;
  }

  get links(): readonly BloomLink[] {
    return this.#links;
  }

  get capacity(): number {
    return this.#links.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** The bytes by which the next new item makes the filter grow. */
  get nextGrowth(): number {
    const { size, entries, error } = this.#last;
    return size < entries ? 0 : bytesFor(entries * this.settings.growth, error * TIGHTENING);
  }

  get isFull(): boolean {
    const { size, entries } = this.#last;
    return size >= entries && (this.settings.isFixed || this.#links.length >= MAX_LINKS);
  }

  has(hash: BloomHash): boolean {
    for (let at = this.#links.length - 1; at >= 0; at -= 1) {
      if (unsetIn(this.#links[at] as BloomLink, hash).length === 0) return true;
    }
    return false;
  }

  /** Adds an item that is not in it and for which there is room. */
  add(hash: BloomHash): void {
    let link = this.#last;
    if (link.size >= link.entries) link = this.#grow(link.entries * this.settings.growth, link.error * TIGHTENING);
    const { bytes } = link;
    const unset = unsetIn(link, hash);
    for (const bit of unset) bytes[bit >>> 3] = (bytes[bit >>> 3] as number) | (1 << (bit & 7));
    link.size += 1;
    this.size += 1;
    this.undo?.push(() => {
      for (const bit of unset) bytes[bit >>> 3] = (bytes[bit >>> 3] as number) & ~(1 << (bit & 7));
      link.size -= 1;
      this.size -= 1;
    }, 8 * unset.length);
  }

  /** @throws RangeError */
  addLink(link: BloomLink): void {
    const isSound =
      link.bits >= 1 &&
      link.bits <= 8 * link.bytes.length &&
      link.error > 0 &&
      link.error < 1 &&
      this.#links.length < MAX_LINKS;
    if (!isSound || (link.n2 > 0 && 2 ** link.n2 > link.bits)) throw new RangeError('not a Bloom filter');
    this.#links.push(link);
    this.#linkBytes += link.bytes.length;
    this.undo?.push(() => this.#links.pop());
  }

  form(): SketchForm {
    const { growth, isFixed } = this.settings;
    const links = this.#links.flatMap(({ entries, error, bits, n2, size, bytes }) => [
      entries,
      error,
      bits,
      n2,
      size,
      bytes.length,
    ]);
    return {
      words: [growth, isFixed ? 1 : 0, this.size, ...links].map(String),
      parts: this.#links.map(({ bytes }) => bytes),
    };
  }

  clone(): BloomFilter {
    const copy = new BloomFilter(this.settings);
    for (const link of this.#links) copy.addLink({ ...link, bytes: Buffer.from(link.bytes) });
    copy.size = this.size;
    return copy;
  }

  keepState(undo: UndoRecorder): void {
    const linkBytes = this.#linkBytes;
    undo.push(() => {
      this.#linkBytes = linkBytes;
    });
  }

  get #last(): BloomLink {
    return this.#links.at(-1) as BloomLink;
  }

  #grow(entries: number, error: number): BloomLink {
    const bytes = Buffer.alloc(bytesFor(entries, error));
    const link = { entries, error, bits: bytes.length * 8, n2: 0, size: 0, bytes };
    this.addLink(link);
    return link;
  }
}

/** The bits of an item that are not set; the arithmetic is modulo 2^64. */
function unsetIn({ bits, n2, bytes, error }: BloomLink, { a, b }: BloomHash): number[] {
  const modulus = BigInt(n2 > 0 ? 2 ** n2 : bits);
  const step = asBigInt(b);
  const unset: number[] = [];
  let at = asBigInt(a);
  for (let count = hashesOf(error); count > 0; count -= 1) {
    const bit = Number(at % modulus);
    if (((bytes[bit >>> 3] as number) & (1 << (bit & 7))) === 0) unset.push(bit);
    at = BigInt.asUintN(64, at + step);
  }
  return unset;
}

function asBigInt({ high, low }: Hash64): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}
