/**
 * Passwords of ACL users, and their REST tokens.
 *
 *  UT1 a token requested with a password is derived from it, the user's salt and the user: a repeated request gives
 *      the same token, and it cannot be made from stored data
 *  UT2 a generated token names its user; it is valid while the whole token is one of the user's passwords
 */
import { createHash, createHmac } from 'node:crypto';
import { type ByteString, bufferOfBytes, type DatabaseId, type Random } from '../kernel/index.js';

const ISSUED = 'mru_';
const GENERATED = 'mrg_';
const SECRET_BYTES = 32;

/** SHA-256 of the password's bytes, as Redis hashes them: 64 lower-case hex digits. */
export function hashPassword(password: ByteString): string {
  return createHash('sha256').update(bufferOfBytes(password)).digest('hex');
}

/** Derives a token from the password (UT1). */
export function issuedUserToken(database: DatabaseId, user: ByteString, salt: string, password: ByteString): string {
  const owner = JSON.stringify([database, user, salt]);
  return ISSUED + createHmac('sha256', bufferOfBytes(password)).update(owner).digest('base64url');
}

/** Generates a token that names its user (UT2). @param secret  undefined: a random one */
export function generatedUserToken(
  database: DatabaseId,
  user: ByteString,
  secret: ByteString | undefined,
  random: Random,
): string {
  const owner = JSON.stringify([database, user]);
  const bytes =
    secret === undefined
      ? random.bytes(SECRET_BYTES)
      : createHmac('sha256', bufferOfBytes(secret)).update(owner).digest();
  return `${GENERATED}${Buffer.from(owner).toString('base64url')}.${Buffer.from(bytes).toString('base64url')}`;
}

/** The user that a generated token names; undefined for any other text. */
export function ownerOfGeneratedToken(
  token: string,
): { readonly database: DatabaseId; readonly user: ByteString } | undefined {
  const [, encoded] = /^mrg_([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]{43}$/.exec(token) ?? [];
  if (encoded === undefined) return undefined;
  try {
    const owner: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    if (!Array.isArray(owner)) return undefined;
    const [database, user] = owner as unknown[];
    return typeof database === 'string' && typeof user === 'string'
      ? { database: database as DatabaseId, user }
      : undefined;
  } catch {
    return undefined;
  }
}
