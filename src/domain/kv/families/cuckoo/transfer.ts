/** CF.SCANDUMP and CF.LOADCHUNK: a Cuckoo filter in parts, in the form of Redis's module. */
import { type ByteString, bufferOfBytes } from '../../../../kernel/index.js';
import type { CommandContext, Handler } from '../../command-spec.js';
import { requireRecordSize } from '../../limits.js';
import { ErrorReply, OK } from '../../reply.js';
import { CuckooFilter, MAX_TABLES } from '../../types/sketch/cuckoo.js';
import { recordExpiry } from '../expire-time.js';
import { readCount } from '../sketches.js';
import { notFound } from './handlers.js';

const badPosition = new ErrorReply('ERR Invalid position');
const badHeader = new ErrorReply('ERR Invalid header');
const exists = new ErrorReply('ERR item exists');
const cannotMake = new ErrorReply("ERR Couldn't create filter!");
const cannotLoad = new ErrorReply("ERR Couldn't load chunk!");
const MAX_CHUNK_BYTES = 1024 * 1024;
/** The iterator of the header. */
const HEADER = 1;
const HEADER_BYTES = 38;

/** CF.SCANDUMP key iterator → [next iterator, part]; 0 starts, and the answer 0 ends. Not found, WRONGTYPE. */
export const dumpChunk: Handler = ({ args, keyspace }) => {
  const position = readCount(args, 2, Number.MIN_SAFE_INTEGER, badPosition);
  const filter = keyspace.peekKind(args.bytes(1), CuckooFilter);
  if (filter === undefined) throw notFound;
  if (filter.size === 0) return [0, null];
  if (position === 0) return [HEADER, headerOf(filter)];
  const place = placeAt(filter, position - 1);
  if (place === undefined) return [0, null];
  const part = place.table.subarray(place.offset, place.offset + MAX_CHUNK_BYTES);
  return [position + part.length, part.toString('latin1')];
};

function headerOf({ size, deleted, tables, settings }: CuckooFilter): ByteString {
  const header = Buffer.alloc(HEADER_BYTES);
  for (const [at, number] of [size, settings.buckets, deleted, tables.length].entries()) {
    header.writeBigUInt64LE(BigInt(number), 8 * at);
  }
  header.writeUInt16LE(settings.bucketSize, 32);
  header.writeUInt16LE(settings.maxIterations, 34);
  header.writeUInt16LE(settings.expansion, 36);
  return header.toString('latin1');
}

/** CF.LOADCHUNK key iterator part → OK. The header makes the filter. Invalid position or header, WRONGTYPE. */
export const loadChunk: Handler = (context) => {
  const { args, keyspace, effects } = context;
  const key = args.bytes(1);
  const known = keyspace.fetchKind(key, CuckooFilter);
  const position = readCount(args, 2, 1, badPosition);
  const bytes = bufferOfBytes(args.bytes(3));
  if (position === HEADER) {
    if (known !== undefined) throw exists;
    keyspace.set(key, filterOf(context, bytes));
  } else {
    if (known === undefined) throw notFound;
    loadInto(known, position, bytes);
    keyspace.changed(key, known, known.bytes);
  }
  effects.push('CF.LOADCHUNK', key, String(position), args.bytes(3));
  recordExpiry(context, key);
  context.notify('d', 'cf.loadchunk', key);
  return OK;
};

function filterOf(context: CommandContext, header: Buffer): CuckooFilter {
  if (header.length !== HEADER_BYTES) throw badHeader;
  const [size = 0, buckets = 0, deleted = 0, tables = 0] = [0, 8, 16, 24].map((at) =>
    Number(header.readBigUInt64LE(at)),
  );
  const [bucketSize = 0, maxIterations = 0, expansion = 0] = [32, 34, 36].map((at) => header.readUInt16LE(at));
  if (tables > MAX_TABLES) throw cannotMake;
  let bytes = 0;
  for (let table = 0; table < tables; table += 1) bytes += buckets * bucketSize * expansion ** table;
  requireRecordSize(context, bytes);
  const words = [buckets, bucketSize, maxIterations, expansion, size, deleted, tables].map(String);
  try {
    return CuckooFilter.fromWords(words);
  } catch (error) {
    if (error instanceof RangeError) throw cannotMake;
    throw error;
  }
}

function loadInto(filter: CuckooFilter, position: number, bytes: Buffer): void {
  const place = placeAt(filter, position - bytes.length - 1);
  if (place === undefined || bytes.length === 0) throw cannotLoad;
  const target = place.table.subarray(place.offset, place.offset + bytes.length);
  if (bytes.length > target.length) throw cannotLoad;
  const before = Buffer.from(target);
  target.set(bytes);
  filter.undo?.push(() => target.set(before), before.length);
}

function placeAt(
  { tables }: CuckooFilter,
  distance: number,
): { readonly table: Buffer; readonly offset: number } | undefined {
  let offset = distance;
  if (offset < 0) return undefined;
  for (const table of tables) {
    if (offset < table.length) return { table, offset };
    offset -= table.length;
  }
  return undefined;
}
