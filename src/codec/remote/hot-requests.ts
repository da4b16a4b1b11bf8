/**
 * Hand-written codecs of the requests and responses that are nearly all of those between processes. Each takes about
 * half of the time of its declared shape, which reads and writes all others. A test compares bytes and values.
 */
import type { Reply } from '../../domain/kv/index.js';
import type { ByteString, DatabaseId, PartitionName } from '../../kernel/index.js';
import { Packer, type Shape, Unpacker } from '../../kernel/schema/index.js';
import type { KvClient, KvMode, KvRequest, KvResponse } from '../../protocol/index.js';

const REQUEST_FIELDS = 6;
const RESPONSE_FIELDS = 7;
/** The fields of a client that are always there. */
const CLIENT_FIELDS = 5;
const MODES: ReadonlySet<string> = new Set<KvMode>(['single', 'pipeline', 'transaction']);
/** The last fields of a response to a request that ran: isAborted, isFull, scriptReads, denials, hasSaid. */
const UNHEARD = Uint8Array.of(0xc2, 0xc2, 0xc0, 0xc0, 0xc2);
const HEARD = Uint8Array.of(0xc2, 0xc2, 0xc0, 0xc0, 0xc3);

const packer = new Packer();
const CLIENT = encodedName('client');
const MAX_ANSWER_BYTES = encodedName('maxAnswerBytes');
const BY = encodedName('by');
const PARTITIONS = encodedName('partitions');
const FIRST_PARTITION = encodedName('firstPartition');
const FACE = encodedName('face');
const PROTOCOL = encodedName('protocol');
const ID = encodedName('id');
const ADDRESS = encodedName('address');
const USER = encodedName('user');
const NAME = encodedName('name');

/** @returns undefined for a request with rare fields */
export function encodeHotRequest(request: KvRequest): Uint8Array | undefined {
  const { database, partition, mode, commands, bytes, client, maxAnswerBytes, by, partitions, firstPartition } =
    request;
  if (!MODES.has(mode) || request.waiter !== undefined || request.watches !== undefined) return undefined;
  if (request.trackFor !== undefined || request.listen !== undefined || client?.rules !== undefined) return undefined;
  return packer.pack((out) => {
    out.list(REQUEST_FIELDS);
    out.text(database);
    out.text(partition);
    out.text(mode);
    out.list(commands.length);
    for (const words of commands) {
      out.list(words.length);
      for (const word of words) out.text(word);
    }
    out.integer(bytes);
    out.map(detailCount(client, maxAnswerBytes, by, partitions, firstPartition));
    if (client !== undefined) writeClient(out, client);
    writeInteger(out, 'maxAnswerBytes', maxAnswerBytes);
    writeText(out, 'by', by);
    writeInteger(out, 'partitions', partitions);
    writeInteger(out, 'firstPartition', firstPartition);
  });
}

function detailCount(...details: readonly unknown[]): number {
  let count = 0;
  for (const detail of details) if (detail !== undefined) count += 1;
  return count;
}

function writeClient(out: Packer, { face, protocol, id, address, user, name }: KvClient): void {
  out.text('client');
  out.map(CLIENT_FIELDS + (name === undefined ? 0 : 1));
  writeText(out, 'face', face);
  writeInteger(out, 'protocol', protocol);
  writeText(out, 'id', id);
  writeText(out, 'address', address);
  writeText(out, 'user', user);
  writeText(out, 'name', name);
}

function writeText(out: Packer, name: string, value: string | undefined): void {
  if (value === undefined) return;
  out.text(name);
  out.text(value);
}

function writeInteger(out: Packer, name: string, value: number | undefined): void {
  if (value === undefined) return;
  out.text(name);
  out.integer(value);
}

/** @returns undefined for a request with rare fields @throws for one that cannot be read */
export function decodeHotRequest(encoded: Uint8Array): KvRequest | undefined {
  const from = new Unpacker(encoded);
  if (from.list() !== REQUEST_FIELDS) return undefined;
  const database = from.name() as DatabaseId;
  const partition = from.name() as PartitionName;
  const mode = from.name();
  if (!MODES.has(mode)) return undefined;
  const commands: (readonly ByteString[])[] = [];
  for (let more = from.list(); more > 0; more -= 1) commands.push(readWords(from));
  const bytes = from.whole();
  const count = from.map();
  const client = from.takes(CLIENT) ? readClient(from) : undefined;
  const maxAnswerBytes = from.takes(MAX_ANSWER_BYTES) ? from.whole() : undefined;
  const by = from.takes(BY) ? from.name() : undefined;
  const partitions = from.takes(PARTITIONS) ? from.whole() : undefined;
  const firstPartition = from.takes(FIRST_PARTITION) ? from.whole() : undefined;
  // Another field, or one at another place.
  if (!from.isAtEnd || count !== detailCount(client, maxAnswerBytes, by, partitions, firstPartition)) return undefined;
  return {
    database,
    partition,
    mode: mode as KvMode,
    commands,
    bytes,
    client,
    waiter: undefined,
    watches: undefined,
    trackFor: undefined,
    listen: undefined,
    maxAnswerBytes,
    by,
    partitions,
    firstPartition,
  };
}

function readWords(from: Unpacker): ByteString[] {
  const words: ByteString[] = [];
  for (let more = from.list(); more > 0; more -= 1) words.push(words.length === 0 ? from.name() : from.text());
  return words;
}

/** @returns undefined when a field is missing; the rest of the request is then not at its end */
function readClient(from: Unpacker): KvClient | undefined {
  const count = from.map();
  if (!from.takes(FACE)) return undefined;
  const face = from.name();
  if (face !== 'rest' && face !== 'resp') return undefined;
  if (!from.takes(PROTOCOL)) return undefined;
  const protocol = from.whole() as KvClient['protocol'];
  if (!from.takes(ID)) return undefined;
  const id = from.name();
  if (!from.takes(ADDRESS)) return undefined;
  const address = from.name();
  if (!from.takes(USER)) return undefined;
  const user = from.name();
  if (count === CLIENT_FIELDS) return { face, protocol, id, address, user };
  if (count > CLIENT_FIELDS + 1 || !from.takes(NAME)) return undefined;
  return { face, protocol, id, address, user, name: from.name() };
}

/** @returns undefined for a response with rare fields */
export function encodeHotResponse(response: KvResponse, replies: Shape<readonly Reply[]>): Uint8Array | undefined {
  const { isAborted = false, isFull = false, scriptReads, denials, slowerThanMicros, indexLag } = response;
  if (isAborted || isFull || scriptReads !== undefined || denials !== undefined) return undefined;
  if (slowerThanMicros !== undefined || indexLag !== undefined) return undefined;
  return packer.pack((out) => {
    out.list(RESPONSE_FIELDS);
    out.text(response.syncToken);
    replies.write(out, response.replies);
    out.raw(response.hasSaid === true ? HEARD : UNHEARD);
  });
}

/** @returns undefined for a response with rare fields @throws for one that cannot be read */
export function decodeHotResponse(encoded: Uint8Array, shape: Shape<readonly Reply[]>): KvResponse | undefined {
  const from = new Unpacker(encoded);
  if (from.list() !== RESPONSE_FIELDS) return undefined;
  const syncToken = from.text();
  const replies = shape.read(from);
  const hasSaid = from.takes(HEARD);
  if ((!hasSaid && !from.takes(UNHEARD)) || !from.isAtEnd) return undefined;
  return hasSaid ? { syncToken, replies, hasSaid } : { syncToken, replies };
}

function encodedName(name: string): Uint8Array {
  return packer.pack((out) => out.text(name));
}
