/**
 * Checks of a command that need no state of the database: whether the database is open to the client's address, and,
 * in Redis' order, whether the command is known, has the right number of words, is permitted over REST and by the
 * grant, and is within the size limits.
 */
import { admit, type CommandSpec, ErrorReply, keysOf, requestTooLarge, restRefusal } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { addressNotAllowed, REFUSALS, type Refusal } from '../error-map.js';
import { MAX_REST_KEY_BYTES } from './command-limits.js';
import { denialOf } from './permissions.js';

/**
 * The refusal for a suspended database or an address outside its networks; undefined if the database is open.
 * @param addressOf called only when needed
 */
export function closureOf({ isSuspended, networks }: KvGrant, addressOf: () => string): Refusal | undefined {
  if (isSuspended === true) return REFUSALS.suspended;
  if (networks === undefined) return undefined;
  const address = addressOf();
  return networks.has(address) ? undefined : addressNotAllowed(address);
}

/** @param bytes of all words together, see bytesOfWords */
export function admitOverRest(grant: KvGrant, words: readonly ByteString[], bytes: number): CommandSpec | ErrorReply {
  const spec = admit(words);
  if (spec instanceof ErrorReply) return spec;
  const refusal = restRefusal(spec, words);
  if (refusal !== undefined) return refusal;
  const denial = denialOf(grant, spec, words);
  if (denial !== undefined) return denial;
  return sizeProblem(grant, spec, words, bytes, MAX_REST_KEY_BYTES) ?? spec;
}

/** @param bytes of all words together. @param maxKeyBytes the endpoint's limit for a key */
export function sizeProblem(
  { limits: { maxCommandBytes } }: KvGrant,
  spec: CommandSpec,
  words: readonly ByteString[],
  bytes: number,
  maxKeyBytes: number,
): ErrorReply | undefined {
  if (bytes > maxCommandBytes) return requestTooLarge(maxCommandBytes, bytes);
  if (bytes <= maxKeyBytes) return undefined;
  const key = keysOf(spec, words).find((candidate) => candidate.length > maxKeyBytes);
  if (key === undefined) return undefined;
  return new ErrorReply(`ERR max key size exceeded. Limit: ${maxKeyBytes} bytes, Actual: ${key.length} bytes`);
}

/** The bytes of longer commands are remembered: counting a million words takes about ten milliseconds. */
const MANY_WORDS = 10_000;
const countedWords = new WeakMap<readonly ByteString[], number>();

/** Called by the parser, which has counted the bytes. */
export function noteBytesOfWords(words: readonly ByteString[], bytes: number): void {
  if (words.length > MANY_WORDS) countedWords.set(words, bytes);
}

export function bytesOfWords(words: readonly ByteString[]): number {
  const known = words.length > MANY_WORDS ? countedWords.get(words) : undefined;
  if (known !== undefined) return known;
  let bytes = 0;
  for (let i = 0; i < words.length; i += 1) bytes += (words[i] as ByteString).length;
  return bytes;
}

export function bytesOfCommands(commands: readonly (readonly ByteString[])[]): number {
  let bytes = 0;
  for (const words of commands) bytes += bytesOfWords(words);
  return bytes;
}
