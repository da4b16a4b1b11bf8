/** `Authorization: Basic base64(<e-mail>:<API key>)`, and `Authorization: Bearer <token>`. */

import { textOfHeader } from '../../kernel/index.js';

export interface BasicCredentials {
  /** In lower case, as accounts store it. */
  readonly email: string;
  readonly key: string;
}

/** No valid credential is longer; the lookup hashes it, and the cost grows with its length. */
const MAX_CHARACTERS = 2048;
const BEARER = /^bearer +(\S+) *$/i;
const BASIC = /^basic +([A-Za-z0-9+/_=-]+) *$/i;

/** Splits at the first colon. Undefined if the header is missing or malformed. */
export function basicCredentials(header: string | undefined): BasicCredentials | undefined {
  if (header === undefined || header.length > MAX_CHARACTERS) return undefined;
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = textOfHeader(Buffer.from(encoded, 'base64').toString('latin1'));
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1) return undefined;
  return { email: text.slice(0, colon).toLowerCase(), key: text.slice(colon + 1) };
}

export function bearerToken(header: string | undefined): string | undefined {
  const token = BEARER.exec(header ?? '')?.[1];
  return token && textOfHeader(token);
}
