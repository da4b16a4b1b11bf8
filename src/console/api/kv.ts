/** Commands of a database, many in one request. Strings of answers come as bytes: nothing is lost of what is no text. */
import { answered, CallError } from './call.js';
import { asTexts } from './kv-bytes.js';
import { type RawReply, rawReplies } from './resp.js';

/** As replies nest; strings are binary strings, one character a byte (see `textOf`). */
export type Reply = string | number | null | boolean | readonly Reply[];
export type Result = { readonly result: Reply } | { readonly error: string };
/** A text, a number, or bytes that are no text. */
export type Word = string | number | { readonly base64: string };
export type Words = readonly Word[];

const OPTIONS = { headers: { 'Svc-Encoding': 'base64' } } as const;

/**
 * Each command's result or error, in order.
 * @throws CallError
 */
export async function pipeline(database: string, commands: readonly Words[], signal?: AbortSignal): Promise<Result[]> {
  return run(`/console/api/kv/${database}`, commands, signal);
}

/** One command's reply as the native protocol has it, which tells statuses from strings. @throws CallError */
export async function raw(database: string, words: Words): Promise<RawReply> {
  const options = { headers: { 'Svc-Response-Format': 'resp2' }, body: [asTexts(words)], isBinary: true };
  const [reply] = rawReplies((await answered('POST', `/console/api/kv/${database}`, options)) as string);
  if (reply === undefined) throw new CallError(0, 'The answer could not be read.');
  return reply;
}

/** All of them, or none. @throws CallError */
export async function transaction(database: string, commands: readonly Words[]): Promise<Result[]> {
  return run(`/console/api/kv/${database}/multi-exec`, commands);
}

/** One command. @throws CallError with the command's own error */
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

/** What a command takes for a binary string. */
export function wordOf(binary: string): Word {
  return textOf(binary) ?? { base64: btoa(binary) };
}

/** The binary string of a text. */
export function binaryOfText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a binary string; undefined: its bytes are no UTF-8. */
export function textOf(binary: string): string | undefined {
  try {
    return STRICT.decode(bytesOf(binary));
  } catch {
    return undefined;
  }
}

/** The beginning of a binary string, without a part of a character at its end. */
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

/** Text where it is text, `\x..` for all that would not be seen, and for each byte of what is none. */
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
