/** Calls of the public API from a page. The browser sends the session; changes also carry its CSRF header. */
import type { Operations } from '#api';
import { endSession, session } from './session.js';

export type Operation = keyof Operations;

export interface CallOptions {
  /** Values for the braces in the path; slashes are kept where the operation takes a URL. */
  readonly path?: Readonly<Record<string, string | number>>;
  /** Undefined and '' are omitted; a list repeats its name. */
  readonly query?: Query;
  /** A text is sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The answer as a binary string, one character per byte. */
  readonly isBinary?: boolean;
}

const BYTES_A_PIECE = 8_192;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The server's refusal. `status` 0: the server could not be reached. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** Calls the management API or the operators' API. @throws CallError */
export async function manage<O extends Operation>(operation: O, options: CallOptions = {}): Promise<Operations[O]> {
  const [method, path] = placed(operation, options);
  return (await answered(method, path, options)) as Operations[O];
}

/** Calls the API of the queue and of workflows. @param account the queue's id. @throws CallError */
export async function ofQueue<O extends Operation>(
  account: string,
  operation: O,
  options: CallOptions = {},
): Promise<Operations[O]> {
  const [method, path] = placed(operation, options);
  return (await answered(method, `/console/api/queue/${account}${path}`, options)) as Operations[O];
}

/** Calls the API of an index. @param operation as in the document, below `/search/{id}` or `/vector/{id}`. @throws CallError */
export async function ofIndex<O extends Operation>(
  id: string,
  operation: O,
  options: CallOptions = {},
): Promise<Operations[O]> {
  const [method, path] = placed(operation, { ...options, path: { id, ...options.path } });
  return (await answered(method, `/console/api${path}`, options)) as Operations[O];
}

/** The operation's method, and its path with filled braces and query. */
export function placed(operation: string, { path = {}, query }: CallOptions): [method: string, path: string] {
  const space = operation.indexOf(' ');
  const filled = operation
    .slice(space + 1)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name] ?? '')));
  return [operation.slice(0, space), filled + queryText(query)];
}

export function queryText(query: Query = {}): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '') words.append(name, String(one));
    }
  }
  const text = words.toString();
  return text === '' ? '' : `?${text}`;
}

/** The answer's JSON, or its text if it is not JSON. @throws CallError */
export async function answered(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
  const { body, headers = {}, signal, isBinary = false } = options;
  const isChange = method !== 'GET' && method !== 'HEAD';
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: {
        ...(isChange ? { 'Millrace-Csrf': session.value?.csrf ?? '' } : {}),
        ...(body !== undefined && typeof body !== 'string' ? { 'Content-Type': 'application/json' } : {}),
        ...encoded(headers),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new CallError(0, 'The server cannot be reached. It is asked again by itself.');
  }
  if (answer.ok && isBinary) return binaryOf(new Uint8Array(await answer.arrayBuffer()));
  const text = await answer.text();
  if (answer.ok) return parsedOr(text);
  if (answer.status === 401) endSession();
  const retryAfter = Number(answer.headers.get('Retry-After') ?? Number.NaN);
  throw new CallError(answer.status, errorIn(text) ?? `The server answered ${answer.status}.`, retryAfter || undefined);
}

/** Header values are bytes for a browser, and the server reads them as UTF-8. */
function encoded(headers: Readonly<Record<string, string>>): Record<string, string> {
  const utf8 = new TextEncoder();
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, binaryOf(utf8.encode(value))]));
}

/** In pieces, because a call cannot have a million arguments. */
function binaryOf(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += BYTES_A_PIECE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BYTES_A_PIECE));
  }
  return binary;
}

function parsedOr(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

function errorIn(text: string): string | undefined {
  const value = parsedOr(text) as { error?: unknown } | undefined;
  return typeof value?.error === 'string' ? value.error : undefined;
}
