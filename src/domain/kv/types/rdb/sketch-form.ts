/**
 * Filters and sketches in Redis's RDB format: values of its modules, each field after a code of its type. The versions
 * are the last ones before the module could choose other hashes.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { SlicePace } from '../../slices.js';
import { BYTES_A_LOOKUP } from '../../steps.js';
import { BloomFilter, bitsPerEntry, hashesOf } from '../sketch/bloom.js';
import { CountMinSketch } from '../sketch/count-min.js';
import { CuckooFilter } from '../sketch/cuckoo.js';
import { murmur32 } from '../sketch/murmur32.js';
import { BEGIN_EFFECT, bytesOfNumbers, loadCommands, type Sketch } from '../sketch/sketch.js';
import { TDigest } from '../sketch/t-digest.js';
import { TopK } from '../sketch/top-k.js';
import { MODULE_END, MODULE_STRING, MODULE_UNSIGNED, moduleId } from './module-codes.js';
import { BadFormat, type RdbReader } from './rdb-reader.js';
import type { RdbWriter } from './rdb-writer.js';

const MODULE_SIGNED = 1;
const MODULE_DOUBLE = 4;
const IDS = {
  'MBbloom--': moduleId('MBbloom--', 4),
  MBbloomCF: moduleId('MBbloomCF', 4),
  'CMSk-TYPE': moduleId('CMSk-TYPE', 0),
  'TopK-TYPE': moduleId('TopK-TYPE', 0),
  'TDIS-TYPE': moduleId('TDIS-TYPE', 0),
} as const;
/** Options of a Bloom filter: sizes are not rounded, hashes have 64 bits; and it does not grow. */
const BLOOM_OPTIONS = 5;
const BLOOM_FIXED = 8;
const HEAP_ENTRY_BYTES = 24;
const PRINT_SEED = 1919;
const COPIED_BYTES = 256 * 1024;

class Fields {
  readonly #pace = new SlicePace();

  constructor(private readonly out: RdbWriter) {}

  unsigned(...values: readonly (number | bigint)[]): void {
    for (const value of values) this.#coded(MODULE_UNSIGNED, () => this.out.size(value));
  }

  signed(...values: readonly number[]): void {
    for (const value of values) this.#coded(MODULE_SIGNED, () => this.out.size(value));
  }

  double(...values: readonly number[]): void {
    for (const value of values) this.#coded(MODULE_DOUBLE, () => this.out.double(value));
  }

  *bytes(bytes: Uint8Array): Generator<void, void> {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.out.size(MODULE_STRING);
    this.out.size(all.length);
    for (let at = 0; at < all.length; at += COPIED_BYTES) {
      this.out.raw(all.toString('latin1', at, at + COPIED_BYTES));
      if (this.#pace.isDue(COPIED_BYTES / BYTES_A_LOOKUP)) yield;
    }
  }

  #coded(code: number, write: () => void): void {
    this.out.size(code);
    write();
  }
}

/** Writes the value after its type byte. */
export function* writeSketch(out: RdbWriter, sketch: Sketch): Generator<void, void> {
  out.size(IDS[sketch.kind]);
  const fields = new Fields(out);
  if (sketch instanceof BloomFilter) yield* writeBloom(fields, sketch);
  else if (sketch instanceof CuckooFilter) yield* writeCuckoo(fields, sketch);
  else if (sketch instanceof CountMinSketch) {
    fields.unsigned(sketch.width, sketch.depth, sketch.count);
    yield* fields.bytes(bytesOfNumbers(sketch.cells));
  } else if (sketch instanceof TopK) yield* writeTopK(fields, sketch);
  else if (sketch instanceof TDigest) writeDigest(fields, sketch);
  out.size(MODULE_END);
}

function* writeBloom(fields: Fields, { size, links, settings }: BloomFilter): Generator<void, void> {
  fields.unsigned(size, links.length, BLOOM_OPTIONS + (settings.isFixed ? BLOOM_FIXED : 0), settings.growth);
  for (const link of links) {
    fields.unsigned(link.entries);
    fields.double(link.error);
    fields.unsigned(hashesOf(link.error));
    fields.double(bitsPerEntry(link.error));
    fields.unsigned(link.bits, link.n2);
    yield* fields.bytes(link.bytes);
    fields.unsigned(link.size);
  }
}

function* writeCuckoo(fields: Fields, filter: CuckooFilter): Generator<void, void> {
  const { buckets, bucketSize, maxIterations, expansion } = filter.settings;
  fields.unsigned(filter.tables.length, buckets, filter.size, filter.deleted, bucketSize, maxIterations, expansion);
  for (const table of filter.tables) {
    fields.unsigned(filter.bucketsOf(table));
    yield* fields.bytes(table);
  }
}

/** The heap has a place for each of the k items; the items follow it, each with a zero at its end. */
function* writeTopK(fields: Fields, sketch: TopK): Generator<void, void> {
  const { k, width, depth, decay } = sketch.settings;
  fields.unsigned(k, width, depth);
  fields.double(decay);
  yield* fields.bytes(bytesOfNumbers(sketch.cells));
  // Empty places have the lowest count, so they come first in a heap.
  const items = [...Array.from({ length: k - sketch.heap.length }, () => undefined), ...sketch.heap].sort(
    (a, b) => (a?.count ?? 0) - (b?.count ?? 0),
  );
  const heap = Buffer.alloc(k * HEAP_ENTRY_BYTES);
  for (const [at, entry] of items.entries()) {
    if (entry === undefined) continue;
    heap.writeUInt32LE(murmur32(Buffer.from(entry.item, 'latin1'), PRINT_SEED), at * HEAP_ENTRY_BYTES);
    heap.writeUInt32LE(entry.item.length, at * HEAP_ENTRY_BYTES + 4);
    heap.writeUInt32LE(entry.count, at * HEAP_ENTRY_BYTES + 16);
  }
  yield* fields.bytes(heap);
  for (const entry of items) yield* fields.bytes(Buffer.from(`${entry?.item ?? ''}\0`, 'latin1'));
}

/** Redis stores merged centroids only. */
function writeDigest(fields: Fields, digest: TDigest): void {
  const { means, weights, count } = digest.centroids();
  const isEmpty = digest.size === 0;
  fields.double(digest.compression, isEmpty ? Number.MAX_VALUE : digest.min, isEmpty ? -Number.MAX_VALUE : digest.max);
  fields.signed(digest.means.length, count, 0, digest.compressions);
  fields.double(digest.size, 0, ...means.subarray(0, count), ...weights.subarray(0, count));
}

/** The commands that rebuild the value of a module; undefined if it is no filter or sketch. @throws BadFormat */
export function readSketch(id: bigint, input: RdbReader, key: ByteString): Generator<ByteString[]> | undefined {
  switch (id) {
    case IDS['MBbloom--']:
      return readBloom(new Input(input), key);
    case IDS.MBbloomCF:
      return readCuckoo(new Input(input), key);
    case IDS['CMSk-TYPE']:
      return readCountMin(new Input(input), key);
    case IDS['TopK-TYPE']:
      return readTopK(new Input(input), key);
    case IDS['TDIS-TYPE']:
      return readDigest(new Input(input), key);
    default:
      return undefined;
  }
}

class Input {
  constructor(private readonly input: RdbReader) {}

  number(): number {
    const code = this.input.size();
    if (code === MODULE_DOUBLE) return this.input.double();
    if (code !== MODULE_UNSIGNED && code !== MODULE_SIGNED) throw new BadFormat('not a number of a module');
    return Number(this.input.bigSize());
  }

  numbers(count: number): number[] {
    return Array.from({ length: count }, () => this.number());
  }

  bytes(): Buffer {
    if (this.input.size() !== MODULE_STRING) throw new BadFormat('not a text of a module');
    return this.input.blob();
  }

  end(): void {
    if (this.input.size() !== MODULE_END) throw new BadFormat('more fields than those of a module');
  }
}

/** A count of things that follow, of which each has several bytes. */
function few(count: number, most: number): number {
  if (!(count >= 0 && count <= most)) throw new BadFormat('too many parts of a module');
  return count;
}

const MAX_TABLES = 1000;
const MAX_PLACES = 1_000_000;

function* readBloom(input: Input, key: ByteString): Generator<ByteString[]> {
  const [size = 0, count = 0, options = 0, growth = 0] = input.numbers(4);
  const isFixed = (options & BLOOM_FIXED) !== 0;
  if ((options & ~BLOOM_FIXED & ~1) !== (BLOOM_OPTIONS & ~1)) throw new BadFormat('hashes of 32 bits');
  const links: number[] = [];
  const parts: Buffer[] = [];
  for (let link = 0; link < few(count, MAX_TABLES); link += 1) {
    const [entries = 0, error = 0, hashes = 0, , bits = 0, n2 = 0] = input.numbers(6);
    const bytes = input.bytes();
    if (hashes !== hashesOf(error)) throw new BadFormat('another number of hashes');
    links.push(entries, error, bits, n2, input.number(), bytes.length);
    parts.push(bytes);
  }
  input.end();
  yield [BEGIN_EFFECT, key, 'MBbloom--', ...[growth, isFixed ? 1 : 0, size, ...links].map(String)];
  for (const [part, bytes] of parts.entries()) yield* loadCommands(key, part, bytes);
}

function* readCuckoo(input: Input, key: ByteString): Generator<ByteString[]> {
  const [tables = 0, buckets = 0, size = 0, deleted = 0, bucketSize = 0, maxIterations = 0, expansion = 0] =
    input.numbers(7);
  const parts: Buffer[] = [];
  for (let table = 0; table < few(tables, MAX_TABLES); table += 1) {
    const bucketsThere = input.number();
    const bytes = input.bytes();
    const expected = buckets * expansion ** table;
    if (bucketsThere !== expected || bytes.length !== expected * bucketSize)
      throw new BadFormat('a table of another size');
    parts.push(bytes);
  }
  input.end();
  const words = [buckets, bucketSize, maxIterations, expansion, size, deleted, tables].map(String);
  yield [BEGIN_EFFECT, key, 'MBbloomCF', ...words];
  for (const [part, bytes] of parts.entries()) yield* loadCommands(key, part, bytes);
}

function* readCountMin(input: Input, key: ByteString): Generator<ByteString[]> {
  const [width = 0, depth = 0, count = 0] = input.numbers(3);
  const bytes = input.bytes();
  if (bytes.length !== width * depth * 4 || width === 0) throw new BadFormat('counters of another size');
  input.end();
  yield [BEGIN_EFFECT, key, 'CMSk-TYPE', ...[width, depth].map(String), String(BigInt(count))];
  yield* loadCommands(key, 0, bytes);
}

function* readTopK(input: Input, key: ByteString): Generator<ByteString[]> {
  const [k = 0, width = 0, depth = 0, decay = 0] = input.numbers(4);
  const cells = input.bytes();
  const heap = input.bytes();
  const isSound = k > 0 && cells.length === width * depth * 8 && heap.length === few(k, MAX_PLACES) * HEAP_ENTRY_BYTES;
  if (!isSound) throw new BadFormat('a Top-K sketch of another size');
  const sketch = new TopK({ k, width, depth, decay });
  const items: { item: ByteString; count: number }[] = [];
  for (let at = 0; at < k; at += 1) {
    const item = input.bytes();
    const count = heap.readUInt32LE(at * HEAP_ENTRY_BYTES + 16);
    if (item.length > 1) items.push({ item: item.toString('latin1', 0, item.length - 1), count });
  }
  input.end();
  sketch.restoreHeap(items.sort((a, b) => a.count - b.count));
  sketch.load(0, 0, cells);
  yield* sketch.rebuild(key);
}

function* readDigest(input: Input, key: ByteString): Generator<ByteString[]> {
  const [compression = 0, min = 0, max = 0, , merged = 0, , compressions = 0, weight = 0] = input.numbers(9);
  const count = few(merged, MAX_PLACES);
  const means = Float64Array.from(input.numbers(count));
  const weights = Float64Array.from(input.numbers(count));
  input.end();
  const ends = count === 0 ? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] : [min, max];
  const words = [compression, ...ends, count, 0, weight, 0, compressions].map(String);
  yield [BEGIN_EFFECT, key, 'TDIS-TYPE', ...words];
  yield* loadCommands(key, 0, bytesOfNumbers(means));
  yield* loadCommands(key, 1, bytesOfNumbers(weights));
}
