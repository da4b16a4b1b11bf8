/**
 * Bodies and headers for display: redacted, cut as requested, and bounded per page. A redacted body is hashed as a
 * whole, even if it would be cut.
 */

import { isUtf8 } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import {
  type HeaderList,
  type HiddenParts,
  isResponseCut,
  redactedBody,
  redactedHeader,
} from '../../domain/queue/index.js';
import { bufferOver } from '../../kernel/index.js';

/** Limit for bodies and headers of one page. A single larger run is still shown, with its texts cut to fit. */
export const MAX_RUN_PAGE_BYTES = 8 * 1024 * 1024;
/** Limit for the headers of one run, since each step has some; further headers are left out. */
const MAX_RUN_HEADER_BYTES = 4 * 1024 * 1024;

export class RedactedTexts {
  /** Bytes shown so far. */
  bytes = 0;
  #cap = Number.POSITIVE_INFINITY;
  #headerBytes = 0;
  #isCut = false;

  /** @param trimBytes UTF-8 bytes of each body; -1: no body is shown; undefined: no limit */
  constructor(private readonly trimBytes: number | undefined) {}

  /** No body is shown, so none has to be read. */
  get isSilent(): boolean {
    return this.trimBytes === -1;
  }

  /** Starts another run with this many bodies and bytes. */
  begin(count: number, bytes: number): void {
    this.#isCut = false;
    this.#cap = bytes <= MAX_RUN_PAGE_BYTES ? Number.POSITIVE_INFINITY : Math.floor(MAX_RUN_PAGE_BYTES / count);
    this.#headerBytes = 0;
  }

  body(content: Uint8Array, redact: HiddenParts | undefined): string | undefined {
    if (this.isSilent) return undefined;
    const redacted = redactedBody(content, redact);
    if (redacted !== undefined) return this.#shown(redacted);
    return isUtf8(content) ? this.#shown(textOf(content)) : this.#encoded(content);
  }

  text(text: string, redact: HiddenParts | undefined): string | undefined {
    if (this.isSilent) return undefined;
    const isHidden = redact?.body === true && text !== '';
    return this.#shown(isHidden ? (redactedBody(Buffer.from(text), redact) as string) : text);
  }

  /** The body of a response, of which the read model may hold the beginning only. */
  response(header: HeaderList, body: Uint8Array, redact: HiddenParts | undefined): string | undefined {
    if (!this.isSilent && isResponseCut(header, body)) this.#isCut = true;
    return this.body(body, redact);
  }

  /** `isCut` when a text since the last call was longer than it is shown; nothing otherwise. */
  takeCut(): { readonly isCut?: true } {
    const isCut = this.#isCut;
    this.#isCut = false;
    return isCut ? { isCut } : {};
  }

  header(header: HeaderList, redact: HiddenParts | undefined): HeaderList {
    for (const [name, value] of header) this.#headerBytes += name.length + value.length;
    if (this.#headerBytes > MAX_RUN_HEADER_BYTES) return [];
    return redactedHeader(header, redact);
  }

  /** Binary data is cut before it is encoded, because the limit counts bytes of the body. */
  #encoded(content: Uint8Array): string {
    const length = Math.min(content.byteLength, this.#most);
    if (length < content.byteLength) this.#isCut = true;
    const shown = Buffer.from(content.buffer, content.byteOffset, length).toString('base64');
    this.bytes += shown.length;
    return shown;
  }

  get #most(): number {
    return Math.max(0, Math.min(this.trimBytes ?? Number.POSITIVE_INFINITY, this.#cap));
  }

  #shown(text: string): string {
    const most = this.#most;
    const isWhole = Buffer.byteLength(text) <= most;
    const shown = isWhole ? text : cut(text, most);
    if (!isWhole) this.#isCut = true;
    this.bytes += Buffer.byteLength(shown);
    return shown;
  }
}

/** Binary data is shown as base64. */
export function textOf(content: Uint8Array): string {
  const bytes = bufferOver(content);
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('base64');
}

/** `400 Bad Request`; other reasons are shown unchanged. */
export function shownError(error: string, status: number): string {
  if (error !== `HTTP status ${status}`) return error;
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
}

/** Cuts at whole characters. */
function cut(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let end = Math.max(0, most);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
