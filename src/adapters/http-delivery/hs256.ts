/**
 * HMAC-SHA256 under one key that is used again and again (RFC 2104): two hashes, each in one call. An object of the
 * platform for each message costs twice as much; see ADR 54.
 */
import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

export class Hs256 {
  /** The padded key, and behind it what is signed, or the inner hash: written anew for each. */
  #inner = Buffer.alloc(BLOCK_BYTES, INNER_PAD);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES, OUTER_PAD);

  /** @param key counted as UTF-8 */
  constructor(key: string) {
    const given = Buffer.from(key);
    const bytes = given.length > BLOCK_BYTES ? Buffer.from(hash('sha256', given, 'binary'), 'latin1') : given;
    for (const [at, byte] of bytes.entries()) {
      this.#inner[at] = byte ^ INNER_PAD;
      this.#outer[at] = byte ^ OUTER_PAD;
    }
  }

  /** @param text ASCII. @returns base64url without padding */
  of(text: string): string {
    const end = BLOCK_BYTES + text.length;
    if (end > this.#inner.length) this.#inner = Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES)], end * 2);
    this.#inner.write(text, BLOCK_BYTES, 'latin1');
    this.#outer.write(hash('sha256', this.#inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, 'base64url');
  }
}
