/**
 * The raw request target as words. It is split first and decoded afterwards, once, byte for byte; nothing
 * cleans it: `//`, `.` and `..` are arguments.
 *
 * Invariants
 *  RTA1 every word is a byte string of its own, not a slice that keeps the whole target alive
 *  RTA2 `_token` never becomes an argument
 */
import type { ByteString } from '../../kernel/index.js';

/** First path segments that are not commands. */
type KvRoute = 'command' | 'whole-command' | 'pipeline' | 'multi-exec' | 'monitor' | 'subscribe' | 'psubscribe';

export interface RequestTarget {
  readonly route: KvRoute;
  /** Segments of the path; a command's name and arguments. */
  readonly words: ByteString[];
  /** Names and values of the query, in order: options that follow the body. */
  readonly options: ByteString[];
  readonly token: ByteString | undefined;
  /** A percent sign without two hexadecimal digits after it. */
  readonly isMalformed: boolean;
}

const NO_WORDS: ByteString[] = [];

/** Routes that stand for themselves: anything after them makes them a command, which does not exist. */
const BATCH_ROUTES = new Map<string, KvRoute>([
  ['pipeline', 'pipeline'],
  ['multi-exec', 'multi-exec'],
]);

const STREAM_ROUTES = new Map<string, KvRoute>([
  ['monitor', 'monitor'],
  ['subscribe', 'subscribe'],
  ['psubscribe', 'psubscribe'],
]);

/** @param target as it stands in the request line: origin form, or absolute form as proxies send it */
export function parseRequestTarget(target: string): RequestTarget {
  const start = target.charCodeAt(0) === 0x2f ? 0 : startOfPath(target);
  const query = target.indexOf('?', start);
  const pathEnd = query < 0 ? target.length : query;
  const words = pathWords(target, start + 1, pathEnd);
  if (query < 0) return describe(words, NO_WORDS, undefined);
  const options: ByteString[] = [];
  const token = queryWords(target.slice(query + 1), options);
  return describe(words, options, token);
}

function describe(
  words: (ByteString | undefined)[],
  options: (ByteString | undefined)[],
  token: ByteString | undefined,
): RequestTarget {
  const isMalformed = words.includes(undefined) || options.includes(undefined);
  const decoded = words as ByteString[];
  return { route: routeOf(decoded), words: decoded, options: options as ByteString[], token, isMalformed };
}

function routeOf(words: readonly ByteString[]): KvRoute {
  const first = words[0];
  if (first === undefined) return 'whole-command';
  // The shortest route word has seven letters, the longest ten; most commands are told apart by that.
  if (first.length < 7 || first.length > 10) return 'command';
  const name = first.toLowerCase();
  return STREAM_ROUTES.get(name) ?? (words.length === 1 ? BATCH_ROUTES.get(name) : undefined) ?? 'command';
}

function startOfPath(target: string): number {
  const scheme = target.indexOf('://');
  const slash = scheme < 0 ? -1 : target.indexOf('/', scheme + 3);
  return slash < 0 ? target.length : slash;
}

/** Exactly one empty segment at the end is dropped. Undefined where a segment cannot be decoded. */
function pathWords(target: string, start: number, end: number): (ByteString | undefined)[] {
  const words: (ByteString | undefined)[] = [];
  let from = start;
  while (from < end) {
    const slash = target.indexOf('/', from);
    const to = slash < 0 || slash > end ? end : slash;
    words.push(decodeSegment(target.slice(from, to)));
    from = to + 1;
  }
  return words;
}

/** @returns the token, if one is there; the first counts */
function queryWords(query: string, options: (ByteString | undefined)[]): ByteString | undefined {
  let token: ByteString | undefined;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    if (name === '_token') token ??= decodeFormText(value) ?? '';
    else if (value === '') options.push(name);
    else options.push(name, decodeFormText(value));
  }
  return token;
}

function decodeFormText(text: string): ByteString | undefined {
  return decodeSegment(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** From this length on V8 makes a slice that points into its parent instead of a copy. */
const SLICED_LENGTH = 13;

function decodeSegment(segment: string): ByteString | undefined {
  if (!segment.includes('%')) return segment.length < SLICED_LENGTH ? segment : ownCopy(segment);
  const bytes = Buffer.allocUnsafe(segment.length);
  let length = 0;
  for (let i = 0; i < segment.length; i += 1) {
    let byte = segment.charCodeAt(i);
    if (byte === 0x25) {
      byte = (hexDigit(segment.charCodeAt(i + 1)) << 4) | hexDigit(segment.charCodeAt(i + 2));
      if (byte < 0) return undefined;
      i += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.toString('latin1', 0, length);
}

const scratch = Buffer.allocUnsafeSlow(1024);

function ownCopy(text: ByteString): ByteString {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1').toString('latin1');
  return scratch.toString('latin1', 0, scratch.write(text, 'latin1'));
}

/** -1 for what is no digit, and for NaN: the end of the text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
