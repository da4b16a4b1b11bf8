/**
 * Reads an RDB file of Redis 6 to 8.8 part by part. Values are not decoded: each is returned as its DUMP payload, for
 * RESTORE.
 *
 *  RDF1 memory is bounded by one value of at most `mostValueBytes`; a longer one is skipped and reported
 *  RDF2 a truncated file, an unknown form or a wrong checksum causes a DamagedFile
 *  RDF3 the checksum is at the end: earlier parts have already been returned
 */
import { BadFormat, NEWEST_RDB_VERSION, RdbReader, sealPayload } from '../../../domain/kv/index.js';
import { type ByteString, bufferOfBytes } from '../../../kernel/index.js';
import type { FileBytes } from '../file-bytes.js';
import type { SourceKey } from '../source.js';
import { passModule, passString, readLength, VALUE_FORMS } from './pass-value.js';

/** The longest key name, library text or file property: the server's limit. */
const MOST_TEXT_BYTES = 512 * 1024 * 1024;
const MAGIC = 'REDIS';
const VERSION_DIGITS = 4;
/** The first version with a checksum after the end mark. */
const FIRST_WITH_CHECKSUM = 5;
const CHECKSUM_BYTES = 8;
const MODULE_NAME_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const CODES = {
  keyMetadata: 243,
  slot: 244,
  library: 245,
  earlyLibrary: 246,
  moduleData: 247,
  idle: 248,
  frequency: 249,
  fact: 250,
  sizes: 251,
  expiryMs: 252,
  expirySeconds: 253,
  database: 254,
  end: 255,
} as const;

export type RdbPart =
  | { readonly kind: 'key'; readonly database: number; readonly key: SourceKey }
  | { readonly kind: 'library'; readonly source: ByteString }
  /** An item that databases here do not support. */
  | { readonly kind: 'left'; readonly item: string };

export function isRdb(first: Buffer): boolean {
  return first.toString('latin1', 0, MAGIC.length) === MAGIC;
}

/** Does an append-only log follow, as in files of Redis 6 and earlier? A property at the file's beginning says so. */
export function beginsLog(input: FileBytes): boolean {
  readVersion(input);
  while (input.byte() === CODES.fact) {
    const isIt = readText(input) === 'aof-preamble';
    const value = readText(input);
    if (isIt) return value === '1';
  }
  return false;
}

/** Yields everything up to the end mark; later bytes are not read. @throws DamagedFile */
export function* readRdb(input: FileBytes, mostValueBytes: number): Generator<RdbPart> {
  const version = readVersion(input);
  let database = 0;
  let about: AboutKey = {};
  for (;;) {
    const code = input.byte();
    const said = saidOfNext(input, code);
    if (said !== undefined) about = { ...about, ...said };
    else if (code === CODES.end) return checkSum(input, version);
    else if (code === CODES.database) database = readLength(input);
    else if (code >= CODES.keyMetadata) yield* otherParts(input, code);
    else {
      const { bytes, name } = readKey(input, code);
      const { payload, valueBytes } = readValue(input, code, version, mostValueBytes);
      yield { kind: 'key', database, key: { name, payload, bytes: bytes + valueBytes, ...about } };
      about = {};
    }
  }
}

type AboutKey = Pick<SourceKey, 'expireAtMs' | 'idleSeconds' | 'frequency'>;

function readVersion(input: FileBytes): number {
  const head = input.run(MAGIC.length + VERSION_DIGITS).toString('latin1');
  const digits = head.slice(MAGIC.length);
  if (!head.startsWith(MAGIC) || !/^\d{4}$/.test(digits))
    throw input.damage('the file does not start like an RDB file');
  const version = Number(digits);
  if (version < 1 || version > NEWEST_RDB_VERSION) {
    throw input.damage(`the file has RDB version ${version}; supported are 1 to ${NEWEST_RDB_VERSION}`);
  }
  return version;
}

/** A property of the following key. */
function saidOfNext(input: FileBytes, code: number): AboutKey | undefined {
  switch (code) {
    case CODES.expiryMs:
      return { expireAtMs: Number(input.run(8).readBigInt64LE(0)) };
    case CODES.expirySeconds:
      return { expireAtMs: input.run(4).readInt32LE(0) * 1000 };
    case CODES.idle:
      return { idleSeconds: readLength(input) };
    case CODES.frequency:
      return { frequency: input.byte() };
    default:
      return undefined;
  }
}

/** Items other than keys. */
function* otherParts(input: FileBytes, code: number): Generator<RdbPart> {
  switch (code) {
    case CODES.fact:
      passString(input);
      return passString(input);
    case CODES.sizes:
      for (let i = 0; i < 2; i += 1) readLength(input);
      return;
    case CODES.slot:
      for (let i = 0; i < 3; i += 1) readLength(input);
      return;
    case CODES.library:
      yield { kind: 'library', source: readText(input) };
      return;
    case CODES.earlyLibrary:
      for (let i = 0; i < 2; i += 1) passString(input);
      if (readLength(input) > 0) passString(input);
      passString(input);
      yield { kind: 'left', item: 'a library of functions of a release candidate' };
      return;
    case CODES.moduleData:
      yield { kind: 'left', item: `data of the module ${readModuleName(input)}` };
      for (let i = 0; i < 2; i += 1) readLength(input);
      return passModule(input);
    case CODES.keyMetadata:
      for (let classes = readLength(input); classes > 0; classes -= 1) {
        input.pass(4);
        passModule(input);
      }
      yield { kind: 'left', item: 'module data of the next key' };
      return;
    default:
      throw input.damage(`${code} is not a known record type`);
  }
}

function readKey(input: FileBytes, form: number): { name: ByteString; bytes: number } {
  if (VALUE_FORMS[form] === undefined) throw input.damage(`a value of the unknown type ${form}`);
  const from = input.offset;
  return { name: readText(input), bytes: input.offset - from };
}

function readValue(input: FileBytes, form: number, version: number, mostBytes: number) {
  input.keep(mostBytes);
  (VALUE_FORMS[form] as (input: FileBytes) => void)(input);
  const { bytes, size } = input.kept();
  const payload = bytes === undefined ? undefined : sealPayload(String.fromCharCode(form) + bytes, version);
  return { payload, valueBytes: size };
}

function readText(input: FileBytes): ByteString {
  const from = input.offset;
  input.keep(MOST_TEXT_BYTES);
  passString(input);
  const { bytes } = input.kept();
  try {
    if (bytes !== undefined) return new RdbReader(bufferOfBytes(bytes), MOST_TEXT_BYTES).string();
  } catch (error) {
    if (!(error instanceof BadFormat)) throw error;
  }
  throw input.damage(`a compressed name or text from byte ${from} cannot be decompressed`);
}

/** Nine letters of six bits, followed by ten bits of a version. */
function readModuleName(input: FileBytes): string {
  const form = input.byte();
  if (form !== 0x81) throw input.damage('invalid name of a module');
  const id = input.run(8).readBigUInt64BE(0);
  let name = '';
  for (let shift = 58n; shift >= 10n; shift -= 6n) name += MODULE_NAME_LETTERS[Number((id >> shift) & 63n)];
  return name;
}

function checkSum(input: FileBytes, version: number): void {
  if (version < FIRST_WITH_CHECKSUM) return;
  const counted = input.checksum();
  const offset = input.offset;
  const said = input.run(CHECKSUM_BYTES);
  // Zeros: the server was configured to write no checksum.
  if (said.equals(counted) || said.every((byte) => byte === 0)) return;
  throw input.damage(`checksum mismatch at byte ${offset}: the file was changed or is incomplete`);
}
