/**
 * Bodies and headers as they may be shown: redacted, cut as was asked, and of one run no more than a page holds. What is
 * redacted is hashed whole, however much of it would be shown.
 */
import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { type HeaderList, type Redaction, redactedBody, redactedHeader } from '../../domain/queue/index.js';

/** Bodies and headers of one page. One run is shown whatever it holds, with its texts cut so that they fit. */
export const MAX_RUN_PAGE_BYTES = 8 * 1024 * 1024;
/** The headers of one run take so much at most, as each step has its own; those behind are left out. */
const MAX_RUN_HEADER_BYTES = 4 * 1024 * 1024;

export class ShownTexts {
  /** The bytes of what has been shown. */
  bytes = 0;
  #cap = Number.POSITIVE_INFINITY;
  #headerBytes = 0;

  /** @param trimBytes UTF-8 bytes of each body; -1: none is shown; undefined: they are whole */
  constructor(private readonly trimBytes: number | undefined) {}

  /** No body is shown: none has to be read for it. */
  get isSilent(): boolean {
    return this.trimBytes === -1;
  }

  /** Another run begins, with so many bodies of so many bytes. */
  begin(count: number, bytes: number): void {
    this.#cap = bytes <= MAX_RUN_PAGE_BYTES ? Number.POSITIVE_INFINITY : Math.floor(MAX_RUN_PAGE_BYTES / count);
    this.#headerBytes = 0;
  }

  body(content: Uint8Array, redact: Redaction | undefined): string | undefined {
    if (this.isSilent) return undefined;
    return this.#shown(redactedBody(content, redact) ?? textOf(content));
  }

  text(text: string, redact: Redaction | undefined): string | undefined {
    if (this.isSilent) return undefined;
    const isHidden = redact?.body === true && text !== '';
    return this.#shown(isHidden ? (redactedBody(Buffer.from(text), redact) as string) : text);
  }

  header(header: HeaderList, redact: Redaction | undefined): HeaderList {
    for (const [name, value] of header) this.#headerBytes += name.length + value.length;
    if (this.#headerBytes > MAX_RUN_HEADER_BYTES) return [];
    return redactedHeader(header, redact);
  }

  #shown(text: string): string {
    const most = Math.min(this.trimBytes ?? Number.POSITIVE_INFINITY, this.#cap);
    const shown = Buffer.byteLength(text) <= most ? text : cut(text, most);
    this.bytes += Buffer.byteLength(shown);
    return shown;
  }
}

/** Bytes that are no text are shown as base64. */
export function textOf(content: Uint8Array): string {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('base64');
}

/** `400 Bad Request`; the reason itself where there was no answer, or where it is another than the status. */
export function shownError(error: string, status: number): string {
  if (error !== `HTTP status ${status}`) return error;
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** At most so many bytes, whole characters. */
function cut(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let end = Math.max(0, most);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
