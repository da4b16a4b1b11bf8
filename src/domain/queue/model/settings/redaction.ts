/**
 * Parts of a message and of its answers that records hide. Records show `REDACTED:` and the SHA-256 of the original, which a holder
 * of the original can compare. Destinations get the original.
 */
import { createHash } from 'node:crypto';
import { MAX_HEADERS } from '../limits.js';
import type { HeaderList, HiddenParts, Redaction } from '../records.js';
import { canonicalHeaderName } from './header-names.js';

export type RedactionOutcome =
  | { readonly isOk: true; readonly redaction: Redaction | undefined }
  | { readonly isOk: false; readonly message: string };

const FIELD = /^(response-)?(?:(body)|headers?(?:\[([^\]]+)\])?)$/i;

/**
 * `body`, `header` for all headers, or `header[Name]`, separated by commas; with `response-` in front those of the
 * answers. Undefined if none is named.
 */
export function parseRedaction(text: string): RedactionOutcome {
  const ofMessage = { body: false, allHeaders: false, headers: [] as string[] };
  const ofAnswers = { body: false, allHeaders: false, headers: [] as string[] };
  for (const part of text.split(',')) {
    const field = part.trim();
    if (field === '') continue;
    const [match, isOfAnswers, body, named] = FIELD.exec(field) ?? [];
    if (match === undefined || named?.trim() === '') {
      return { isOk: false, message: 'names body, header or header[Name], or one of them after response-' };
    }
    const hidden = isOfAnswers === undefined ? ofMessage : ofAnswers;
    if (body !== undefined) hidden.body = true;
    else if (named === undefined) hidden.allHeaders = true;
    else if (hidden.headers.length === MAX_HEADERS) {
      return { isOk: false, message: `names more than ${MAX_HEADERS} headers` };
    } else hidden.headers.push(canonicalHeaderName(named.trim().toLowerCase()));
  }
  if (hidesSomething(ofAnswers)) return { isOk: true, redaction: { ...ofMessage, response: ofAnswers } };
  return { isOk: true, redaction: hidesSomething(ofMessage) ? ofMessage : undefined };
}

function hidesSomething({ body, allHeaders, headers }: HiddenParts): boolean {
  return body || allHeaders || headers.length > 0;
}

/** The replacement of a value: `REDACTED:<64 lower-case hex digits>`. A text is hashed by its UTF-8 bytes. */
export function redactedText(original: Uint8Array | string): string {
  return `REDACTED:${createHash('sha256').update(original).digest('hex')}`;
}

/** The headers for records. Values are hashed by the bytes that are sent, one per character. */
export function redactedHeader(header: HeaderList, redaction: HiddenParts | undefined): HeaderList {
  if (redaction === undefined || (!redaction.allHeaders && redaction.headers.length === 0)) return header;
  return header.map(([name, value]) =>
    redaction.allHeaders || redaction.headers.includes(name)
      ? [name, redactedText(Buffer.from(value, 'latin1'))]
      : [name, value],
  );
}

/** The replacement of a body in records; undefined: the body itself is shown. An empty body is never hidden. */
export function redactedBody(body: Uint8Array, redaction: HiddenParts | undefined): string | undefined {
  return redaction?.body === true && body.byteLength > 0 ? redactedText(body) : undefined;
}
