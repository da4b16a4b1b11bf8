/** BF.SCANDUMP and BF.LOADCHUNK: a Bloom filter in parts, in the form of Redis's module. */
import { type ByteString, bufferOfBytes } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ErrorReply, OK } from '../../reply.js';
import { BloomFilter, type BloomLink, bitsPerEntry, hashesOf } from '../../types/sketch/bloom.js';
import { recordExpiry } from '../expire-time.js';
import { readCount } from '../sketches.js';
import { notFound } from './handlers.js';

const notNumeric = new ErrorReply('ERR Second argument must be numeric');
const badData = new ErrorReply('ERR received bad data');
const noLink = new ErrorReply('ERR invalid offset - no link found');
const tooLong = new ErrorReply('ERR invalid chunk - Too big for current filter');
const MAX_CHUNK_BYTES = 1024 * 1024;
/** The iterator of the header. */
const HEADER = 1;
const HEADER_BYTES = 20;
const LINK_BYTES = 53;
const WITHOUT_ROUNDING = 1;
const HASHES_OF_64_BITS = 4;
const WITHOUT_SCALING = 8;

/** BF.SCANDUMP key iterator → [next iterator, part]; 0 starts, and the answer 0 ends. Not found, WRONGTYPE. */
export const dumpChunk: Handler = ({ args, keyspace }) => {
  const filter = keyspace.peekKind(args.bytes(1), BloomFilter);
  if (filter === undefined) throw notFound;
  const iterator = readCount(args, 2, Number.MIN_SAFE_INTEGER, notNumeric);
  if (iterator === 0) return [HEADER, headerOf(filter)];
  const place = placeAt(filter, iterator - 1);
  if (place === undefined) return [0, ''];
  const part = place.bytes.subarray(place.offset, place.offset + MAX_CHUNK_BYTES);
  return [iterator + part.length, part.toString('latin1')];
};

function headerOf({ size, links, settings }: BloomFilter): ByteString {
  const header = Buffer.alloc(HEADER_BYTES + links.length * LINK_BYTES);
  header.writeBigUInt64LE(BigInt(size), 0);
  header.writeUInt32LE(links.length, 8);
  header.writeUInt32LE(WITHOUT_ROUNDING | HASHES_OF_64_BITS | (settings.isFixed ? WITHOUT_SCALING : 0), 12);
  header.writeUInt32LE(settings.growth, 16);
  for (const [index, link] of links.entries()) {
    const at = HEADER_BYTES + index * LINK_BYTES;
    header.writeBigUInt64LE(BigInt(link.bytes.length), at);
    header.writeBigUInt64LE(BigInt(link.bits), at + 8);
    header.writeBigUInt64LE(BigInt(link.size), at + 16);
    header.writeDoubleLE(link.error, at + 24);
    header.writeDoubleLE(bitsPerEntry(link.error), at + 32);
    header.writeUInt32LE(hashesOf(link.error), at + 40);
    header.writeBigUInt64LE(BigInt(link.entries), at + 44);
    header.writeUInt8(link.n2, at + 52);
  }
  return header.toString('latin1');
}

/** BF.LOADCHUNK key iterator part → OK. The header makes the filter. Bad data, WRONGTYPE. */
export const loadChunk: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const iterator = readCount(args, 2, Number.MIN_SAFE_INTEGER, notNumeric);
  const bytes = bufferOfBytes(args.bytes(3));
  const known = keyspace.fetchKind(key, BloomFilter);
  if (known === undefined) {
    if (iterator !== HEADER) throw notFound;
    keyspace.set(key, filterOf(context, bytes));
  } else {
    loadInto(known, iterator, bytes);
    keyspace.changed(key, known, known.bytes);
  }
  effects.push('BF.LOADCHUNK', key, String(iterator), args.bytes(3));
  recordExpiry(context, key);
  context.notify('d', 'bf.loadchunk', key);
  return OK;
};

function filterOf(context: CommandContext, header: Buffer): BloomFilter {
  if (header.length < HEADER_BYTES) throw badData;
  const count = header.readUInt32LE(8);
  const options = header.readUInt32LE(12);
  const known = WITHOUT_ROUNDING | HASHES_OF_64_BITS | WITHOUT_SCALING;
  if (count === 0 || header.length !== HEADER_BYTES + count * LINK_BYTES) throw badData;
  if ((options & ~known) !== 0 || (options & HASHES_OF_64_BITS) === 0) throw badData;
  const filter = new BloomFilter({ growth: header.readUInt32LE(16), isFixed: (options & WITHOUT_SCALING) !== 0 });
  let bytes = 0;
  for (let index = 0; index < count; index += 1) {
    const at = HEADER_BYTES + index * LINK_BYTES;
    bytes += Number(header.readBigUInt64LE(at));
    requireRecordSize(context, bytes);
    addLink(filter, header, at);
  }
  if (filter.size !== Number(header.readBigUInt64LE(0))) throw badData;
  return filter;
}

function addLink(filter: BloomFilter, header: Buffer, at: number): void {
  const link: BloomLink = {
    bytes: Buffer.alloc(Number(header.readBigUInt64LE(at))),
    bits: Number(header.readBigUInt64LE(at + 8)),
    size: Number(header.readBigUInt64LE(at + 16)),
    error: header.readDoubleLE(at + 24),
    entries: Number(header.readBigUInt64LE(at + 44)),
    n2: header.readUInt8(at + 52),
  };
  if (header.readUInt32LE(at + 40) !== hashesOf(link.error)) throw badData;
  try {
    filter.addLink(link);
  } catch (error) {
    if (error instanceof RangeError) throw badData;
    throw error;
  }
  filter.size += link.size;
}

function loadInto(filter: BloomFilter, iterator: number, bytes: Buffer): void {
  if (iterator <= 0 || iterator < bytes.length) throw badData;
  const place = placeAt(filter, iterator - bytes.length - 1);
  if (place === undefined) throw noLink;
  const target = place.bytes.subarray(place.offset, place.offset + bytes.length);
  if (bytes.length > target.length) throw tooLong;
  const before = Buffer.from(target);
  target.set(bytes);
  filter.undo?.push(() => target.set(before), before.length);
}

/** The filter of the chain with the byte at that distance from the first one. */
function placeAt(
  { links }: BloomFilter,
  distance: number,
): { readonly bytes: Buffer; readonly offset: number } | undefined {
  let offset = distance;
  if (offset < 0) return undefined;
  for (const { bytes } of links) {
    if (offset < bytes.length) return { bytes, offset };
    offset -= bytes.length;
  }
  return undefined;
}
