/** The status line and headers of one answer, which decide its end and the reuse of its connection. */
import type { OutgoingCall } from '../../ports/index.js';
import { CallFailure } from './failure-words.js';

/** Further ones are omitted; their bytes are bounded where they are read. */
const MAX_RESPONSE_HEADERS = 256;

/** Names seen before, so that each is stored once. */
const MAX_KNOWN_NAMES = 1000;

const MAX_KNOWN_NAME_BYTES = 64;

const known = new Map<string, string>();

const STATUS_LINE = /^HTTP\/(0\.9|1\.0|1\.1|2\.0) ([1-9]\d\d)(?: |$)/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const DIGITS = /^\d+/;
const LENGTH = /^\d+[ \t]*$/;
const CHUNKED_LAST = /(?:^|,)[ \t]*chunked[ \t]*$/i;
const KEPT_SECONDS = /timeout=(\d+)/;
const SPACES = /^[ \t]*$/;

export class AnswerHead {
  status = 0;
  readonly headers: OutgoingCall['headers'][number][] = [];
  /** True after the empty line of a final answer. */
  isWhole = false;
  length: number | undefined;
  isChunked = false;
  /** The transfer encoding does not define the end. */
  isEncoded = false;
  keepsAlive = true;
  keptMs: number | undefined;
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** @returns false for an invalid status line */
  readStatus(line: string): boolean {
    const found = STATUS_LINE.exec(line);
    if (found === null) return false;
    this.status = Number(found[2]);
    this.keepsAlive = found[1] === '1.1';
    return true;
  }

  /** @returns false for an invalid header. @throws CallFailure */
  readHeader(line: string): boolean {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = valueIn(line, colon + 1);
    if (!this.#isValid(colon, name, value)) return false;
    const canonical = canonicalName(name);
    if (this.headers.length < MAX_RESPONSE_HEADERS) this.headers.push([canonical, value]);
    switch (canonical) {
      case 'Content-Length':
        return this.#readLength(value);
      case 'Transfer-Encoding':
        if (this.length !== undefined) return false;
        this.isChunked = CHUNKED_LAST.test(value);
        this.isEncoded = !this.isChunked;
        return true;
      case 'Connection':
        this.#readConnection(value);
        return true;
      case 'Keep-Alive':
        this.#readKeepAlive(value);
        return true;
      default:
        return true;
    }
  }

  /** Checks a trailer without keeping it. */
  readTrailer(line: string): boolean {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    return this.#isValid(colon, name, valueIn(line, colon + 1)) && canonicalName(name) !== 'Content-Length';
  }

  /** The part of an unfinished line to keep, without the space before its value. @throws CallFailure */
  partOf(line: string): string {
    const colon = line.indexOf(':');
    const isSpace = colon >= 0 && SPACES.test(line.charAt(colon + 1));
    const kept = isSpace ? `${line.slice(0, colon + 1)}${line.slice(colon + 1).trimStart()}` : line;
    const colonAndEnd = kept.endsWith('\r') ? 2 : 1;
    this.#mustFit(this.#bytes + kept.length - colonAndEnd);
    return kept;
  }

  #isValid(colon: number, name: string, value: string): boolean {
    this.#bytes += name.length + value.length;
    this.#mustFit(this.#bytes);
    return colon > 0 && TOKEN.test(name) && !FORBIDDEN_IN_VALUE.test(value);
  }

  #mustFit(bytes: number): void {
    if (bytes >= this.maxBytes) throw new CallFailure('response headers too large');
  }

  /** A second length, or one with chunks, is contradictory. */
  #readLength(value: string): boolean {
    if (this.isChunked || this.isEncoded || this.length !== undefined) return false;
    const digits = DIGITS.exec(value)?.[0];
    if (digits === undefined) return false;
    this.length = Number(digits);
    return LENGTH.test(value) && Number.isSafeInteger(this.length);
  }

  #readConnection(value: string): void {
    const words = value
      .toLowerCase()
      .split(',')
      .map((word) => word.trim());
    if (words.includes('close')) this.keepsAlive = false;
    else if (words.includes('keep-alive')) this.keepsAlive = true;
  }

  #readKeepAlive(value: string): void {
    const seconds = KEPT_SECONDS.exec(value)?.[1];
    if (seconds !== undefined) this.keptMs = Number(seconds) * 1000;
  }
}

/** Without the space before it. */
function valueIn(line: string, from: number): string {
  let at = from;
  while (line.charCodeAt(at) === 32 || line.charCodeAt(at) === 9) at += 1;
  return line.slice(at);
}

/** Headers of a response as they are recorded: canonical names, values byte for byte as Latin-1, bounded in number. */
function canonicalName(name: string): string {
  const before = known.get(name);
  if (before !== undefined) return before;
  const canonical = name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
  // A copy, because the name is a view of a whole answer's text.
  const key = Buffer.from(name, 'latin1').toString('latin1');
  if (known.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_NAME_BYTES) known.set(key, canonical);
  return canonical;
}
