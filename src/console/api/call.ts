/** Calls of the public API from a page: its session goes along by itself, changes bear the header that belongs to it. */
import type { Operations } from '#api';
import { endSession, session } from './session.js';

export type Operation = keyof Operations;

export interface CallOptions {
  /** For the braces in the path; a value's slashes are kept where the operation takes a URL. */
  readonly path?: Readonly<Record<string, string | number>>;
  /** Undefined and '' are left out; a list says its name several times. */
  readonly query?: Query;
  /** A text goes as it is, all else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** The answer as a binary string, one character a byte, whatever it holds. */
  readonly isBinary?: boolean;
}

const BYTES_A_PIECE = 8_192;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** What the server refused, in its words. `status` 0: it could not be reached. */
export class CallError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** Of the management API, and the operators'. @throws CallError */
export async function manage<O extends Operation>(operation: O, options: CallOptions = {}): Promise<Operations[O]> {
  const [method, path] = placed(operation, options);
  return (await answered(method, path, options)) as Operations[O];
}

/** Of the queue's API, and of workflows. @param account the queue's id. @throws CallError */
export async function ofQueue<O extends Operation>(
  account: string,
  operation: O,
  options: CallOptions = {},
): Promise<Operations[O]> {
  const [method, path] = placed(operation, options);
  return (await answered(method, `/console/api/queue/${account}${path}`, options)) as Operations[O];
}

/** Of a search index. @param operation as the document has it, below `/search/{id}`. @throws CallError */
export async function ofIndex<O extends Operation>(
  id: string,
  operation: O,
  options: CallOptions = {},
): Promise<Operations[O]> {
  const [method, path] = placed(operation, { ...options, path: { id, ...options.path } });
  return (await answered(method, `/console/api${path}`, options)) as Operations[O];
}

/** What an operation's path is with its braces filled, and its query behind it. */
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

/** The answer's JSON, or its text where it is none. @throws CallError */
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
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new CallError(0, 'The server cannot be reached. It is asked again by itself.');
  }
  if (answer.ok && isBinary) return binaryOf(await answer.arrayBuffer());
  const text = await answer.text();
  if (answer.ok) return parsedOr(text);
  if (answer.status === 401) endSession();
  const retryAfter = Number(answer.headers.get('Retry-After') ?? Number.NaN);
  throw new CallError(answer.status, errorIn(text) ?? `The server answered ${answer.status}.`, retryAfter || undefined);
}

/** In pieces: a call takes no million arguments. */
function binaryOf(buffer: ArrayBuffer): string {
  const bytes = new Uint8Array(buffer);
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
