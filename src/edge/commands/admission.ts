/**
 * May this database be used from there, and may this command run over REST, for this grant? Everything is checked that
 * needs no state of the database, of a command in Redis' order: known, of right arity, permitted; then the bounds of size.
 */
import { admit, type CommandSpec, ErrorReply, keysOf, requestTooLarge, restRefusal } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { addressNotAllowed, REFUSALS, type Refusal } from '../error-map.js';
import { MAX_REST_KEY_BYTES } from './command-limits.js';
import { denialOf } from './permissions.js';

/**
 * Why nobody, or nobody from there, may use the database for now; undefined: it is open.
 * @param addressOf asked only where it matters
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

/** @param bytes of all words together. @param maxKeyBytes of a key, which each face bounds by itself */
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

/** So many words are counted once: looking at a million of them takes some ten milliseconds. */
const MANY_WORDS = 10_000;
const countedWords = new WeakMap<readonly ByteString[], number>();

/** Whoever read the words knows their bytes. */
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
