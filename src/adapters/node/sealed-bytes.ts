/**
 * Encrypts pieces of files with AES-256-GCM: a piece is 12 random bytes, the ciphertext, and a tag of 16 bytes. A piece opens
 * only in its own place, which the caller names.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The bytes that a sealed piece is longer. */
export const SEALED_BYTES = NONCE_BYTES + TAG_BYTES;

export function sealBytes(key: Uint8Array, piece: Uint8Array, place: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
}

/** @returns undefined for a piece of another key or place, or one that was changed */
export function openBytes(key: Uint8Array, sealed: Uint8Array, place: string): Buffer | undefined {
  if (sealed.length < SEALED_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    decipher.final();
    return opened;
  } catch {
    return undefined;
  }
}
