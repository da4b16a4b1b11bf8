/** Lines and replies of a command line, and a transaction being entered. It lives as long as the page. */
import { type Signal, signal } from '@preact/signals';
import { CallError } from '../../../api/call.js';
import { type Reply, raw, transaction, wordOf } from '../../../api/kv.js';
import type { Words } from '../../../api/kv-bytes.js';
import type { RawReply } from '../../../api/resp.js';
import { drawnReply } from './drawn-reply.js';

export interface Exchange {
  readonly at: number;
  readonly line: string;
  /** Undefined: still running. */
  readonly reply: string | undefined;
  readonly isBad: boolean;
  readonly tookMs: number | undefined;
}

/** Older exchanges are dropped. */
const MAX_EXCHANGES = 200;

export interface LineSession {
  readonly exchanges: Signal<readonly Exchange[]>;
  /** Commands after MULTI. */
  readonly collected: Signal<readonly Words[] | undefined>;
}

const sessions = new Map<string, LineSession>();
let last = 0;

export function lineSession(id: string): LineSession {
  const session = sessions.get(id) ?? { exchanges: signal([]), collected: signal(undefined) };
  sessions.set(id, session);
  return session;
}

/** Shows a line and a reply without sending a command. */
export function told({ exchanges }: LineSession, line: string, reply: string, isBad = false): void {
  last += 1;
  exchanges.value = [...exchanges.value, { at: last, line, reply, isBad, tookMs: undefined }].slice(-MAX_EXCHANGES);
}

/** @param binaries the words of the line, as binary strings */
export async function run(id: string, line: string, binaries: readonly string[]): Promise<void> {
  const session = lineSession(id);
  const { exchanges } = session;
  told(session, line, '');
  const { at } = exchanges.value.at(-1) as Exchange;
  const put = (part: Partial<Exchange>) => {
    exchanges.value = exchanges.value.map((one) => (one.at === at ? { ...one, ...part } : one));
  };
  put({ reply: undefined });
  const started = performance.now();
  try {
    const reply = await answer(id, session, binaries);
    put({ reply: drawnReply(reply, line), isBad: reply.kind === 'error', tookMs: performance.now() - started });
  } catch (error) {
    put({ reply: `(error) ${(error as Error).message}`, isBad: true });
  }
}

async function answer(id: string, { collected }: LineSession, binaries: readonly string[]): Promise<RawReply> {
  const words = binaries.map(wordOf);
  const name = String(words[0]).toUpperCase();
  const waiting = collected.value;
  if (name === 'MULTI' || name === 'DISCARD' || name === 'EXEC') {
    if ((name === 'MULTI') === (waiting !== undefined)) {
      const wrong = name === 'MULTI' ? 'MULTI calls can not be nested' : `${name} without MULTI`;
      return { kind: 'error', text: `ERR ${wrong}` };
    }
    collected.value = name === 'MULTI' ? [] : undefined;
    if (name !== 'EXEC' || waiting === undefined) return { kind: 'status', text: 'OK' };
    return { kind: 'array', items: waiting.length === 0 ? [] : await executed(id, waiting) };
  }
  if (waiting === undefined) return raw(id, words);
  collected.value = [...waiting, words];
  return { kind: 'status', text: 'QUEUED' };
}

async function executed(id: string, commands: readonly Words[]): Promise<readonly RawReply[]> {
  const results = await transaction(id, commands);
  if (!Array.isArray(results)) throw new CallError(400, 'EXECABORT');
  return results.map((result) => ('error' in result ? { kind: 'error', text: result.error } : asRaw(result.result)));
}

/** Transactions are answered as JSON, in which statuses are strings. */
function asRaw(reply: Reply): RawReply {
  if (reply === null) return { kind: 'nil' };
  if (reply === 'OK') return { kind: 'status', text: reply };
  if (typeof reply === 'string') return { kind: 'bulk', text: reply };
  if (typeof reply === 'object') return { kind: 'array', items: reply.map(asRaw) };
  return { kind: 'integer', digits: String(reply) };
}
