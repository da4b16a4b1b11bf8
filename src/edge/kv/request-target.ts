/**
 * Splits the raw request target into words. It is split first and decoded once, byte for byte, without normalising:
 * `//`, `.` and `..` are arguments.
 *
 *  RTA1 every word is a separate string (PDC1: not a slice that keeps the whole target in memory)
 *  RTA2 `_token` never becomes an argument
 */
import type { ByteString } from '../../kernel/index.js';
import { formDecoded, percentDecoded, startOfPath } from '../http/percent-encoding.js';

/** First path segments that are not commands. */
type KvRoute = 'command' | 'whole-command' | 'pipeline' | 'multi-exec' | 'monitor' | 'subscribe' | 'psubscribe';

export interface RequestTarget {
  readonly route: KvRoute;
  /** Segments of the path: a command's name and arguments. */
  readonly words: ByteString[];
  /** Names and values of the query, in order: options after the body. */
  readonly options: ByteString[];
  readonly token: ByteString | undefined;
  /** A percent sign without two hexadecimal digits after it. */
  readonly isMalformed: boolean;
}

const NO_WORDS: ByteString[] = [];

/** Routes of exactly one segment: with further segments the path is a command, which does not exist. */
const BATCH_ROUTES = new Map<string, KvRoute>([
  ['pipeline', 'pipeline'],
  ['multi-exec', 'multi-exec'],
]);

const STREAM_ROUTES = new Map<string, KvRoute>([
  ['monitor', 'monitor'],
  ['subscribe', 'subscribe'],
  ['psubscribe', 'psubscribe'],
]);

/** @param target of the request line: origin form, or absolute form as proxies send it */
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
  // Route words have seven to ten letters; this sorts out most commands.
  if (first.length < 7 || first.length > 10) return 'command';
  const name = first.toLowerCase();
  return STREAM_ROUTES.get(name) ?? (words.length === 1 ? BATCH_ROUTES.get(name) : undefined) ?? 'command';
}

/** Drops exactly one empty segment at the end. Undefined for a segment that cannot be decoded. */
function pathWords(target: string, start: number, end: number): (ByteString | undefined)[] {
  const words: (ByteString | undefined)[] = [];
  let from = start;
  while (from < end) {
    const slash = target.indexOf('/', from);
    const to = slash < 0 || slash > end ? end : slash;
    words.push(percentDecoded(target.slice(from, to)));
    from = to + 1;
  }
  return words;
}

/** @returns the first token, if there is one */
function queryWords(query: string, options: (ByteString | undefined)[]): ByteString | undefined {
  let token: ByteString | undefined;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = formDecoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : pair.slice(equals + 1);
    if (name === '_token') token ??= formDecoded(value) ?? '';
    else if (value === '') options.push(name);
    else options.push(name, formDecoded(value));
  }
  return token;
}
