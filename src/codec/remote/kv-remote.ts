/**
 * Requests for a partition, and their replies, between processes ↔ bytes. Byte strings travel as texts:
 * characters below 256 come back as they went.
 */
import { decode, ExtensionCodec, encode } from '@msgpack/msgpack';
import {
  BigNumberReply,
  BooleanReply,
  DoubleReply,
  ErrorReply,
  KeyedReply,
  MapReply,
  NIL_ARRAY,
  NilArray,
  PairsReply,
  type Reply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import type { KvMode, KvRequest, KvResponse, ScriptDenial } from '../../messages/index.js';

const extensionCodec = new ExtensionCodec();

/** A class of reply ↔ an extension whose body is MessagePack again. */
function register<T>(
  type: number,
  isIt: (value: unknown) => value is T,
  toParts: (value: T) => unknown,
  make: (parts: never) => unknown,
): void {
  extensionCodec.register({
    type,
    encode: (value) => (isIt(value) ? encode(toParts(value), { extensionCodec }) : null),
    decode: (bytes) => make(decode(bytes, { extensionCodec }) as never),
  });
}

const is =
  <T>(type: new (...given: never[]) => T) =>
  (value: unknown): value is T =>
    value instanceof type;

register(
  1,
  is(SimpleString),
  ({ text }) => text,
  (text: string) => new SimpleString(text),
);
register(
  2,
  is(ErrorReply),
  ({ text, restText }) => [text, restText],
  ([text, rest]: [string, string]) => new ErrorReply(text, rest),
);
register(
  3,
  (value): value is NilArray => value instanceof NilArray,
  () => null,
  () => NIL_ARRAY,
);
register(
  4,
  (value): value is BigReply => value instanceof BigReply,
  ({ value }) => String(value),
  (text: string) => BigInt(text),
);
register(
  5,
  is(MapReply),
  ({ items }) => items.map(wrapBig),
  (items: Reply[]) => new MapReply(items),
);
register(
  6,
  is(SetReply),
  ({ items }) => items.map(wrapBig),
  (items: Reply[]) => new SetReply(items),
);
register(
  7,
  is(PairsReply),
  ({ items }) => items.map(wrapBig),
  (items: Reply[]) => new PairsReply(items),
);
register(
  8,
  is(KeyedReply),
  ({ items }) => items.map(wrapBig),
  (items: Reply[]) => new KeyedReply(items),
);
register(
  9,
  is(DoubleReply),
  ({ value }) => value,
  (value: number) => new DoubleReply(value),
);
register(
  10,
  is(BooleanReply),
  ({ value }) => value,
  (value: boolean) => new BooleanReply(value),
);
register(
  11,
  is(VerbatimReply),
  ({ text, format }) => [text, format],
  ([text, format]: [string, 'txt' | 'mkd']) => new VerbatimReply(text, format),
);
register(
  12,
  is(BigNumberReply),
  ({ text }) => text,
  (text: string) => new BigNumberReply(text),
);

/** MessagePack gives bigints no way into an extension; a wrapper has one. */
class BigReply {
  constructor(readonly value: bigint) {}
}

export function encodeKvRequest({
  database,
  partition,
  mode,
  commands,
  bytes,
  isGone: _,
  ...rest
}: KvRequest): Uint8Array {
  return encode([database, partition, mode, commands, bytes, rest], { ignoreUndefined: true });
}

export function decodeKvRequest(bytes: Uint8Array): KvRequest {
  const [database, partition, mode, commands, size, rest] = decode(bytes) as unknown[];
  const request: KvRequest = {
    database: database as DatabaseId,
    partition: partition as PartitionName,
    mode: mode as KvMode,
    commands: commands as string[][],
    bytes: size as number,
  };
  // From a process of an earlier version there is none. Assigned: to spread it in front takes ten times as long.
  return rest === undefined ? request : Object.assign(request, rest);
}

export function encodeKvResponse({
  replies,
  syncToken,
  isAborted = false,
  isFull = false,
  scriptReads,
  denials,
  hasSaid = false,
}: KvResponse): Uint8Array {
  const rest = [isAborted, isFull, scriptReads ?? null, denials ?? null, hasSaid];
  return encode([syncToken, replies.map(wrapBig), ...rest], { extensionCodec });
}

/** From a process of an earlier version the last are missing. */
type ResponseFields = [string, Reply[], boolean?, boolean?, (string[] | null)?, (ScriptDenial[] | null)?, boolean?];

export function decodeKvResponse(bytes: Uint8Array): KvResponse {
  const fields = decode(bytes, { extensionCodec }) as ResponseFields;
  const [syncToken, replies, isAborted = false, isFull = false, reads, refused, hasSaid = false] = fields;
  const denials = refused ?? undefined;
  const scriptReads = reads ?? undefined;
  const isPlain = !isAborted && !isFull && scriptReads === undefined && denials === undefined;
  if (isPlain) return hasSaid ? { syncToken, replies, hasSaid } : { syncToken, replies };
  return { syncToken, replies, isAborted, isFull, scriptReads, denials, hasSaid };
}

function wrapBig(reply: Reply): unknown {
  if (typeof reply === 'bigint') return new BigReply(reply);
  if (Array.isArray(reply)) return reply.map(wrapBig);
  return reply;
}
