/**
 * Names and values of headers for destinations. Invalid headers are refused when a message is accepted, so that no
 * accepted message can fail, or smuggle a second request, because of its headers. Names are stored in canonical case:
 * each part between dashes begins with a capital.
 */
import { MAX_HEADER_BYTES, MAX_HEADER_VALUE_BYTES, MAX_HEADERS } from '../limits.js';
import type { HeaderList } from '../records.js';

const MAX_NAME_CHARACTERS = 256;
/** A cache of canonical names: callers send the same few. */
const KEPT_NAMES = 2048;

/** Headers of one connection, or of the framing, which this service writes itself. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Headers that identify the sender: receivers trust them because publishers cannot set them. */
const OF_THE_DELIVERY: ReadonlySet<string> = new Set([
  'svc-signature',
  'svc-message-id',
  'svc-retried',
  'svc-schedule-id',
  'svc-caller-ip',
  'svc-topic-name',
  'svc-region',
]);
/**
 * Headers that are not forwarded with all others of a call. `Accept-Encoding` would request a coding that is not
 * undone, because responses are recorded unchanged; `Http2-Settings` concerns the connection of the call; deliveries
 * have their own `User-Agent`.
 */
const OF_THE_CALL: ReadonlySet<string> = new Set(['accept-encoding', 'http2-settings', 'user-agent']);

/** Headers that name the trace of a message and do not belong to its content. */
const OF_THE_TRACE: ReadonlySet<string> = new Set(['Traceparent', 'Tracestate']);
/** Longer trace headers count as ordinary headers; forwarding more of them is not required. */
const MAX_TRACE_VALUE_BYTES = 512;

const NEUTRAL_PREFIX = 'svc-';

const canonicalNames = new Map<string, string>();

/** `content-type` → `Content-Type`. */
export function canonicalHeaderName(name: string): string {
  let canonical = canonicalNames.get(name);
  if (canonical === undefined) {
    canonical = name
      .toLowerCase()
      .split('-')
      .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
      .join('-');
    if (canonicalNames.size >= KEPT_NAMES) canonicalNames.delete(canonicalNames.keys().next().value as string);
    if (name.length <= MAX_NAME_CHARACTERS) canonicalNames.set(name, canonical);
  }
  return canonical;
}

/**
 * Stored headers in the spellings of deliveries: `Svc-Label` becomes `Word-Label` for each word; other names are
 * unchanged.
 * @param headerWords `Svc` for the neutral spelling
 */
export function spelledHeader(header: HeaderList, headerWords: readonly string[]): HeaderList {
  return header.flatMap(([name, value]): HeaderList[number][] => {
    const isNeutral = name.slice(0, NEUTRAL_PREFIX.length).toLowerCase() === NEUTRAL_PREFIX;
    if (!isNeutral) return [[name, value]];
    return headerWords.map((word) => [word + name.slice(NEUTRAL_PREFIX.length - 1), value]);
  });
}

/** Whether a message may not set the name (lower case, neutral spelling). */
function isForbiddenOutgoing(name: string): boolean {
  return OF_THE_CONNECTION.has(name) || OF_THE_DELIVERY.has(name) || name.startsWith('proxy-');
}

/** Whether a header (lower case) is left out when a call forwards all its headers. */
export function isLeftOutOfForwarding(name: string): boolean {
  return name.startsWith('svc-') || OF_THE_CALL.has(name) || isForbiddenOutgoing(name);
}

/** Whether a header cannot be sent to a destination, apart from its length. `name` is in lower case. */
export function isUnfitForForwarding(name: string, value: string): boolean {
  return !isToken(name) || isForbiddenOutgoing(name) || !isFieldValue(value);
}

/** The problem of a header for a destination; undefined: valid. `name` is in lower case. */
export function outgoingHeaderProblem(name: string, value: string): string | undefined {
  if (!isToken(name)) return 'is not a header name';
  if (isForbiddenOutgoing(name)) return `header ${name} cannot be set`;
  if (value.length > MAX_HEADER_VALUE_BYTES) return `value is longer than ${MAX_HEADER_VALUE_BYTES} bytes`;
  if (!isFieldValue(value)) return 'value has characters that a header cannot carry';
  return undefined;
}

/** @param name canonical */
export function isOfTrace([name]: HeaderList[number]): boolean {
  return OF_THE_TRACE.has(name);
}

/** The problem of all headers of a message together; undefined: valid. One header of each trace name is not counted. */
export function headerListProblem(header: HeaderList): string | undefined {
  const problem = problemOfAll(header);
  if (problem === undefined || !header.some(isOfTrace)) return problem;
  const names = new Set<string>();
  return problemOfAll(
    header.filter((pair) => {
      const isOne = isOfTrace(pair) && !names.has(pair[0]) && pair[1].length <= MAX_TRACE_VALUE_BYTES;
      if (isOne) names.add(pair[0]);
      return !isOne;
    }),
  );
}

function problemOfAll(header: HeaderList): string | undefined {
  if (header.length > MAX_HEADERS) return `more than ${MAX_HEADERS} headers to forward`;
  let bytes = 0;
  for (const [name, value] of header) bytes += name.length + value.length;
  return bytes > MAX_HEADER_BYTES ? `headers to forward are longer than ${MAX_HEADER_BYTES} bytes` : undefined;
}

/** The characters of a token in RFC 9110. */
function isToken(name: string): boolean {
  if (name.length === 0 || name.length > MAX_NAME_CHARACTERS) return false;
  for (let at = 0; at < name.length; at += 1) {
    if (TOKEN_CODES[name.charCodeAt(at)] !== 1) return false;
  }
  return true;
}

const TOKEN_CODES = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  TOKEN_CODES[character.charCodeAt(0)] = 1;
}

/** Bytes as characters, without control characters except the tab. */
function isFieldValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}
