/**
 * Compares a client's subscriptions and waits with the current rules of its user. Redis disconnects clients with
 * forbidden channels; here this applies to all commands and to tracked keys.
 */
import { type CommandSpec, findCommand } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { denialOf } from '../commands/permissions.js';
import type { SubscriptionKind } from './client-state.js';
import type { RespClient } from './resp-client.js';

const COMMANDS: Readonly<Record<SubscriptionKind, ByteString>> = {
  channel: 'SUBSCRIBE',
  pattern: 'PSUBSCRIBE',
  'shard-channel': 'SSUBSCRIBE',
};
const ALL_KEYS = '~*';

/**
 * Does the client listen to or wait for something that its grant forbids, or track keys that it lost since `before`?
 */
export function hearsForbidden(client: RespClient, before: KvGrant): boolean {
  const grant = client.grant as KvGrant;
  if (grant.rules === before.rules || grant.permissions === undefined) return false;
  for (const [kind, names] of Object.entries(client.subscriptions ?? {})) {
    for (const name of names.keys()) if (isDenied(grant, COMMANDS[kind as SubscriptionKind], name)) return true;
  }
  const { blocked } = client;
  if (blocked !== undefined && denialOf(grant, blocked.spec, blocked.words) !== undefined) return true;
  if (client.isMonitor && isDenied(grant, 'MONITOR')) return true;
  if (client.tracking === undefined) return false;
  return isDenied(grant, 'CLIENT', 'TRACKING', 'ON') || losesKeys(before, grant);
}

/** Disconnects a client whose rules changed while the owner handled its request under `asked`. */
export function endUnlessAllowed(client: RespClient, asked: KvGrant): void {
  if (!client.link.mayHear() || client.grant === asked) return;
  if (hearsForbidden(client, asked)) client.link.cut('revoked');
}

function isDenied(grant: KvGrant, ...words: readonly ByteString[]): boolean {
  return denialOf(grant, findCommand(words) as CommandSpec, words) !== undefined;
}

/** Compares patterns as texts, as Redis does for channels. */
function losesKeys(before: KvGrant, now: KvGrant): boolean {
  const kept = new Set(now.permissions?.keyPatterns);
  if (kept.has(ALL_KEYS)) return false;
  const had = before.permissions?.keyPatterns ?? [ALL_KEYS];
  // `~a` permits more than `%R~a`.
  return had.some((pattern) => !kept.has(pattern) && !kept.has(pattern.slice(pattern.indexOf('~'))));
}
