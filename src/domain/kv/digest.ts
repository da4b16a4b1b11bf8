/**
 * A 128-bit digest of the contents of a partition: keys, values, expiries, parameters, libraries and aliases, in no order. Two
 * partitions with equal contents have equal digests, whether replayed, restored or live. It is the sum, modulo 2^128,
 * of a 128-bit hash of each part.
 */
import { createXXHash128 } from 'hash-wasm';
import type { ByteString } from '../../kernel/index.js';
import type { Keyspace } from './keyspace.js';
import { rebuildingCommands, rebuildingPreamble } from './rebuild.js';
import type { Collection, Value } from './value.js';

const hasher = await createXXHash128();
const wordHasher = await createXXHash128();
const MODULUS = 1n << 128n;

type Hasher = typeof hasher;

/** Each word is preceded by its length, so that two different lists of words never feed the same bytes. */
function feed(into: Hasher, word: ByteString): void {
  into.update(Buffer.from(`${word.length}:${word}`, 'latin1'));
}

/** Sums up key by key, so that a caller can compute it in slices. */
export class KeyspaceDigest {
  #sum = 0n;

  add(key: ByteString, value: Value, expireAtMs: number | undefined): void {
    hasher.init();
    if (typeof value === 'string') {
      // Strings keep the form of the first release, so that digests in old snapshots stay valid.
      for (const words of rebuildingCommands(key, value, expireAtMs)) for (const word of words) feed(hasher, word);
      hasher.update(';');
    } else {
      feed(hasher, key);
      feed(hasher, value.kind);
      if (value.hasOrder) for (const word of value.contents()) feed(hasher, word);
      else feed(hasher, sumOfContents(value));
      feed(hasher, expireAtMs === undefined ? '' : String(expireAtMs));
    }
    this.#add();
  }

  /** Adds a part that is not a key, as words. */
  addPart(words: readonly ByteString[]): void {
    hasher.init();
    for (const word of words) feed(hasher, word);
    this.#add();
  }

  /** 32 lower-case hex digits; zeros for an empty keyspace. */
  toString(): string {
    return this.#sum.toString(16).padStart(32, '0');
  }

  #add(): void {
    this.#sum = (this.#sum + BigInt(`0x${hasher.digest('hex')}`)) % MODULUS;
  }
}

function sumOfContents(value: Collection): ByteString {
  let sum = 0n;
  for (const word of value.contents()) {
    wordHasher.init();
    wordHasher.update(Buffer.from(word, 'latin1'));
    sum = (sum + BigInt(`0x${wordHasher.digest('hex')}`)) % MODULUS;
  }
  return sum.toString(16);
}

/** The digest of the whole partition, expired keys included, in one go: about 3 µs per key. */
export function digestOf(
  engine: Parameters<typeof rebuildingPreamble>[0] & { readonly keyspace: Pick<Keyspace, 'entries'> },
): string {
  const digest = new KeyspaceDigest();
  for (const words of rebuildingPreamble(engine)) digest.addPart(words);
  for (const [key, value, expireAtMs] of engine.keyspace.entries()) digest.add(key, value, expireAtMs);
  return digest.toString();
}
