/**
 * Seals secrets with AES-256-GCM. The key is in a separate file and never in the journal, so the journal alone does not
 * give the secrets. Processes of one installation share the file.
 *
 * A sealed text is `s1.<key id>.<nonce, ciphertext and tag in base64url>`.
 *
 *  SEA1 the key file is made once, complete and private, also when two processes start at the same time
 *  SEA2 a text sealed with another key is reported as such, not as damage
 *  SEA3 a text with a single changed bit cannot be opened
 */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import { MillraceError, type Random } from '../../kernel/index.js';
import type { Sealing } from '../../ports/index.js';
import { makeFileOnce, PRIVATE_FILE, readFileIfThere } from './files.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** 96 random bits: at a billion secrets the chance of a repetition is one in ten billion. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 's1';
const KEY_ID_DIGITS = 12;

/** @throws BAD_CONFIG when the file has other contents, or cannot be read or made */
export async function openKeyFile(path: string, random: Random): Promise<KeyFileSealing> {
  try {
    const found = (await readFileIfThere(path)) ?? (await makeFileOnce(path, newKeyLine(random), PRIVATE_FILE));
    const key = Buffer.from(found.toString('utf8').trim(), 'base64');
    if (key.length !== KEY_BYTES) throw new Error(`it does not hold ${KEY_BYTES} bytes in base64`);
    return new KeyFileSealing(key, random);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `the key file ${path} cannot be used`, {}, cause);
  }
}

/** The id of the file's key; no file is made. @throws BAD_CONFIG when it is missing or unusable */
export async function keyIdOf(path: string, random: Random): Promise<string> {
  if ((await readFileIfThere(path)) === undefined) {
    throw new MillraceError(
      'BAD_CONFIG',
      `the key file ${path} does not exist: set MILLRACE_SEAL_KEY_FILE to its path`,
    );
  }
  return (await openKeyFile(path, random)).keyId;
}

function newKeyLine(random: Random): string {
  return `${Buffer.from(random.bytes(KEY_BYTES)).toString('base64')}\n`;
}

/** @param key 32 bytes */
export function sealingWith(key: Uint8Array, random: Random): Sealing & { readonly keyId: string } {
  return new KeyFileSealing(key, random);
}

/** The id of the key that sealed a text, and undefined for another text. */
export function keyIdIn(sealed: string): string | undefined {
  const [format, keyId, body] = sealed.split('.');
  return format === FORMAT && body !== undefined ? keyId : undefined;
}

class KeyFileSealing implements Sealing {
  readonly #key: Buffer;
  /** Identifies the key without revealing it. */
  readonly keyId: string;

  constructor(
    key: Uint8Array,
    private readonly random: Random,
  ) {
    this.#key = Buffer.from(key);
    this.keyId = createHash('sha256').update('key id\0').update(key).digest('hex').slice(0, KEY_ID_DIGITS);
  }

  seal(text: string): string {
    const nonce = this.random.bytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    cipher.setAAD(this.#bound());
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${FORMAT}.${this.keyId}.${sealed.toString('base64url')}`;
  }

  open(sealed: string): string {
    const [format, keyId, body] = sealed.split('.');
    if (format !== FORMAT || keyId === undefined || body === undefined) throw notSealed();
    if (keyId !== this.keyId) {
      throw new MillraceError('BAD_CONFIG', `sealed with key ${keyId}, and this process has key ${this.keyId}`);
    }
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw notSealed();
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(this.#bound());
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const opened = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch (cause) {
      throw notSealed(cause);
    }
  }

  #bound(): Buffer {
    return Buffer.from(`${FORMAT}.${this.keyId}`);
  }
}

function notSealed(cause?: unknown): MillraceError {
  return new MillraceError('INVALID', 'not a sealed text, or one that was changed', {}, cause);
}
