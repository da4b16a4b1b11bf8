/**
 * Requests for a partition, and their replies, between processes ↔ bytes. Byte strings travel as texts:
 * characters below 256 come back as they went.
 */
import { decode, ExtensionCodec, encode } from '@msgpack/msgpack';
import { ErrorReply, NIL_ARRAY, NilArray, type Reply, SimpleString } from '../../domain/kv/index.js';
import type { DatabaseId, PartitionName } from '../../kernel/index.js';
import type { KvMode, KvRequest, KvResponse } from '../../messages/index.js';

const extensionCodec = new ExtensionCodec();
extensionCodec.register({
  type: 1,
  encode: (value) => (value instanceof SimpleString ? Buffer.from(value.text, 'latin1') : null),
  decode: (bytes) => new SimpleString(Buffer.from(bytes).toString('latin1')),
});
extensionCodec.register({
  type: 2,
  encode: (value) => (value instanceof ErrorReply ? Buffer.from(value.text, 'latin1') : null),
  decode: (bytes) => new ErrorReply(Buffer.from(bytes).toString('latin1')),
});
extensionCodec.register({
  type: 3,
  encode: (value) => (value instanceof NilArray ? new Uint8Array(0) : null),
  decode: () => NIL_ARRAY,
});
extensionCodec.register({
  type: 4,
  encode: (value) => (value instanceof BigReply ? Buffer.from(String(value.value)) : null),
  decode: (bytes) => BigInt(Buffer.from(bytes).toString()),
});

/** MessagePack gives bigints no way into an extension; a wrapper has one. */
class BigReply {
  constructor(readonly value: bigint) {}
}

export function encodeKvRequest({ database, partition, mode, commands, bytes }: KvRequest): Uint8Array {
  return encode([database, partition, mode, commands, bytes]);
}

export function decodeKvRequest(bytes: Uint8Array): KvRequest {
  const [database, partition, mode, commands, size] = decode(bytes) as unknown[];
  return {
    database: database as DatabaseId,
    partition: partition as PartitionName,
    mode: mode as KvMode,
    commands: commands as string[][],
    bytes: size as number,
  };
}

export function encodeKvResponse({ replies, syncToken }: KvResponse): Uint8Array {
  return encode([syncToken, replies.map(wrapBig)], { extensionCodec });
}

export function decodeKvResponse(bytes: Uint8Array): KvResponse {
  const [syncToken, replies] = decode(bytes, { extensionCodec }) as [string, Reply[]];
  return { syncToken, replies };
}

function wrapBig(reply: Reply): unknown {
  if (typeof reply === 'bigint') return new BigReply(reply);
  if (Array.isArray(reply)) return reply.map(wrapBig);
  return reply;
}
