/** `Authorization: Basic base64(<e-mail>:<API key>)`, and `Authorization: Bearer <token>`. */

export interface BasicCredentials {
  /** Lower case: people are known by it so. */
  readonly email: string;
  readonly key: string;
}

/** Longer ones are nobody's; it is looked up by its hash, which costs by length. */
const MAX_CHARACTERS = 2048;
const BEARER = /^bearer +(\S+) *$/i;
const BASIC = /^basic +([A-Za-z0-9+/_=-]+) *$/i;

/** Split at the first colon. Undefined for a header that is missing or of another form. */
export function basicCredentials(header: string | undefined): BasicCredentials | undefined {
  if (header === undefined || header.length > MAX_CHARACTERS) return undefined;
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1) return undefined;
  return { email: text.slice(0, colon).toLowerCase(), key: text.slice(colon + 1) };
}

export function bearerToken(header: string | undefined): string | undefined {
  return BEARER.exec(header ?? '')?.[1];
}
