/**
 * Shows executed commands to their observers: monitors, and clients with tracking, which cache values that they read.
 */
import type { CommandSpec } from '../../domain/kv/index.js';
import type { ByteString, SessionId } from '../../kernel/index.js';
import type { KvWork } from './kv-work.js';
import type { OwnedPartition } from './owned-partition.js';

const NAMED: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\x07': '\\a',
  '\b': '\\b',
};

/** A script is shown before its commands. Other commands with `skip-monitor` hold secrets, or are MONITOR itself. */
export function isForMonitors({ flags }: CommandSpec): boolean {
  return !flags.includes('skip-monitor') || flags.includes('script');
}

/** Shows the command and the commands that its scripts ran. */
export function showToMonitors(
  { audience }: OwnedPartition,
  words: readonly string[],
  { request }: KvWork,
  nowMs: number,
): void {
  const micros = nowMs * 1000;
  audience.monitor(monitorLine(words, micros, request.client?.address ?? '0.0.0.0:0'));
  for (const called of audience.scriptCalls.splice(0)) audience.monitor(monitorLine(called, micros, 'lua'));
}

/** Registers the process for the next change of the keys. */
export function track(owned: OwnedPartition, keys: Iterable<string>, edge: SessionId): void {
  for (const key of keys) owned.audience.track(key, edge);
  owned.noteTracking();
}

/** Tells the client which keys its script read. Before the script ran, all keys that it named counted as read. */
export function trackScript(owned: OwnedPartition, work: KvWork, edge: SessionId): void {
  const reads = owned.audience.scriptReads ?? new Set();
  owned.audience.scriptReads = undefined;
  track(owned, reads, edge);
  work.scriptReads = [...(work.scriptReads ?? []), ...reads];
}

/** The format of MONITOR: `1721284005.242090 [0 127.0.0.1:50432] "GET" "k"`. */
function monitorLine(words: readonly ByteString[], nowMicros: number, address: string): ByteString {
  const seconds = Math.floor(nowMicros / 1e6);
  const micros = String(Math.floor(nowMicros % 1e6)).padStart(6, '0');
  return `${seconds}.${micros} [0 ${address}] ${words.map(quoted).join(' ')}`;
}

function quoted(word: ByteString): ByteString {
  const escaped = word.replace(/[^ !#-[\]-~]/g, (character) => {
    return NAMED[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${escaped}"`;
}
