/**
 * The request line and headers. Headers of the connection are written only here, for any input; responses are not
 * decoded, so no encoding is requested unless the caller does.
 */
import type { OutgoingCall } from '../../ports/index.js';

/** Headers of the connection, not of the message. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const ACCEPT_ENCODING = 'accept-encoding';
/** These methods send a length also without a body. */
const WITH_LENGTH = new Set(['POST', 'PUT', 'PATCH']);
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Undefined: a header contains invalid characters. */
export function requestHead(call: OutgoingCall, host: string, path: string): string | undefined {
  const { method, headers, body } = call;
  const said = linesOf(headers);
  if (said === undefined) return undefined;
  const { lines, namesEncoding } = said;
  const encoding = namesEncoding ? '' : 'accept-encoding: identity\r\n';
  const hasLength = body.length > 0 || WITH_LENGTH.has(method);
  const length = hasLength ? `content-length: ${body.length}\r\n\r\n` : '\r\n';
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}${encoding}${length}`;
}

interface Lines {
  readonly lines: string;
  readonly namesEncoding: boolean;
}

function linesOf(headers: OutgoingCall['headers']): Lines | undefined {
  let lines = '';
  let namesEncoding = false;
  for (const [name, value] of headers) {
    const kind = kindOf(name);
    if (kind === 'connection') continue;
    if (kind === 'forbidden' || FORBIDDEN_IN_VALUE.test(value)) return undefined;
    if (kind === 'encoding') namesEncoding = true;
    lines += `${name}: ${value}\r\n`;
  }
  return { lines, namesEncoding };
}

type Kind = 'connection' | 'encoding' | 'forbidden' | 'other';

/** Names checked before; longer ones are checked each time, to bound the memory. */
const MAX_KNOWN_NAMES = 1000;
const MAX_KNOWN_CHARACTERS = 64;
const known = new Map<string, Kind>();

function kindOf(name: string): Kind {
  const before = known.get(name);
  if (before !== undefined) return before;
  const kind = judged(name);
  if (known.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_CHARACTERS) known.set(name, kind);
  return kind;
}

function judged(name: string): Kind {
  const lower = name.toLowerCase();
  if (CONNECTION_HEADERS.has(lower)) return 'connection';
  if (!TOKEN.test(name)) return 'forbidden';
  return lower === ACCEPT_ENCODING ? 'encoding' : 'other';
}
