/**
 * Parts of a message that records hide. Records show `REDACTED:` and the SHA-256 of the original, which a holder of
 * the original can compare. Destinations get the original.
 */
import { createHash } from 'node:crypto';
import { MAX_HEADERS } from '../limits.js';
import type { HeaderList, Redaction } from '../records.js';
import { canonicalHeaderName } from './header-names.js';

export type RedactionOutcome =
  | { readonly isOk: true; readonly redaction: Redaction | undefined }
  | { readonly isOk: false; readonly message: string };

const NAMED_HEADER = /^headers?\[([^\]]+)\]$/i;

/** `body`, `header` for all headers, or `header[Name]`, separated by commas. Undefined if none is named. */
export function parseRedaction(text: string): RedactionOutcome {
  let body = false;
  let allHeaders = false;
  const headers: string[] = [];
  for (const part of text.split(',')) {
    const field = part.trim();
    const lower = field.toLowerCase();
    const named = NAMED_HEADER.exec(field)?.[1]?.trim();
    if (field === '') continue;
    if (lower === 'body') body = true;
    else if (lower === 'header' || lower === 'headers') allHeaders = true;
    else if (named === undefined || named === '') return { isOk: false, message: 'names body, header or header[Name]' };
    else if (headers.length === MAX_HEADERS) return { isOk: false, message: `names more than ${MAX_HEADERS} headers` };
    else headers.push(canonicalHeaderName(named.toLowerCase()));
  }
  const isNothing = !body && !allHeaders && headers.length === 0;
  return { isOk: true, redaction: isNothing ? undefined : { body, allHeaders, headers } };
}

/** The replacement of a value: `REDACTED:<64 lower-case hex digits>`. A text is hashed by its UTF-8 bytes. */
export function redactedText(original: Uint8Array | string): string {
  return `REDACTED:${createHash('sha256').update(original).digest('hex')}`;
}

/** The headers for records. Values are hashed by the bytes that are sent, one per character. */
export function redactedHeader(header: HeaderList, redaction: Redaction | undefined): HeaderList {
  if (redaction === undefined || (!redaction.allHeaders && redaction.headers.length === 0)) return header;
  return header.map(([name, value]) =>
    redaction.allHeaders || redaction.headers.includes(name)
      ? [name, redactedText(Buffer.from(value, 'latin1'))]
      : [name, value],
  );
}

/** The replacement of a body in records; undefined: the body itself is shown. An empty body is never hidden. */
export function redactedBody(body: Uint8Array, redaction: Redaction | undefined): string | undefined {
  return redaction?.body === true && body.byteLength > 0 ? redactedText(body) : undefined;
}
