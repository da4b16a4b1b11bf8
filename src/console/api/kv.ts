/** Commands of a database, many in one request. Strings in answers are bytes, so binary data is preserved. */
import { answered, CallError } from './call.js';
import { asTexts, type Word, type Words } from './kv-bytes.js';
import { type RawReply, rawReplies } from './resp.js';

/** Nested like replies; strings are binary strings, one character per byte (see `textOf`). */
export type Reply = string | number | null | boolean | readonly Reply[];
export type Result = { readonly result: Reply } | { readonly error: string };

const OPTIONS = { headers: { 'Svc-Encoding': 'base64' } } as const;

/**
 * The result or error of each command, in order.
 * @throws CallError
 */
export async function pipeline(database: string, commands: readonly Words[], signal?: AbortSignal): Promise<Result[]> {
  return run(`/console/api/kv/${database}`, commands, signal);
}

/** One command's reply in RESP, which distinguishes statuses from strings. @throws CallError */
export async function raw(database: string, words: Words): Promise<RawReply> {
  const options = { headers: { 'Svc-Response-Format': 'resp2' }, body: [asTexts(words)], isBinary: true };
  const [reply] = rawReplies((await answered('POST', `/console/api/kv/${database}`, options)) as string);
  if (reply === undefined) throw new CallError(0, 'The answer could not be read.');
  return reply;
}

/** Runs all commands or none. @throws CallError */
export async function transaction(database: string, commands: readonly Words[]): Promise<Result[]> {
  return run(`/console/api/kv/${database}/multi-exec`, commands);
}

/** Runs one command. @throws CallError with the command's own error */
export async function command(database: string, ...words: Words): Promise<Reply> {
  const [one] = await pipeline(database, [words]);
  if (one === undefined || 'error' in one) throw new CallError(400, one?.error ?? 'no answer');
  return one.result;
}

async function run(path: string, commands: readonly Words[], signal?: AbortSignal): Promise<Result[]> {
  const answer = await answered('POST', path, { ...OPTIONS, body: commands.map(asTexts), signal });
  return (answer as Result[]).map((one) => ('error' in one ? one : { result: decoded(one.result) }));
}

/** OK is not encoded. */
function decoded(reply: Reply): Reply {
  if (Array.isArray(reply)) return reply.map(decoded);
  if (typeof reply !== 'string' || reply === 'OK') return reply;
  try {
    return atob(reply);
  } catch {
    return reply;
  }
}

/** A binary string as a word of a command. */
export function wordOf(binary: string): Word {
  return textOf(binary) ?? { base64: btoa(binary) };
}

/** The binary string of a text. */
export function binaryOfText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a binary string; undefined if it is not UTF-8. */
export function textOf(binary: string): string | undefined {
  try {
    return STRICT.decode(bytesOf(binary));
  } catch {
    return undefined;
  }
}

/** The beginning of a binary string, without a partial character at its end. */
export function beginningOf(binary: string, length: number): string {
  const end = Math.min(length, binary.length);
  let lead = end - 1;
  while (lead > end - 4 && isContinuation(binary.charCodeAt(lead))) lead -= 1;
  const code = binary.charCodeAt(lead);
  const width = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : code >= 0xc0 ? 2 : 1;
  return binary.slice(0, lead + width > end ? lead : end);
}

function isContinuation(code: number): boolean {
  return (code & 0xc0) === 0x80;
}

export function bytesOf(binary: string): Uint8Array {
  return Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
}

/** Readable text with `\x..` for control characters, and for each byte if it is not text. */
export function shownOf(binary: string): string {
  const text = textOf(binary);
  if (text === undefined)
    return Array.from(binary, (unit) => (unit >= ' ' && unit < '\x7f' ? unit : escaped(unit))).join('');
  return text.replaceAll(/\p{Cc}/gu, (unit) => (/[\n\r\t]/.test(unit) ? unit : escaped(unit)));
}

/** @param unit one byte */
export function escaped(unit: string): string {
  return `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
