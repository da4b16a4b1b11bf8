/**
 * What a client listens to and waits for, held against the rules that its user has now. Redis ends who may not listen to a channel any
 * more; here that holds for all commands and for changed keys too.
 */
import { type CommandSpec, findCommand } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { denialOf } from '../commands/permissions.js';
import type { RespClient, SubscriptionKind } from './resp-client.js';

const COMMANDS: Readonly<Record<SubscriptionKind, ByteString>> = {
  channel: 'SUBSCRIBE',
  pattern: 'PSUBSCRIBE',
  'shard-channel': 'SSUBSCRIBE',
};
const ALL_KEYS = '~*';

/** Does it listen to or wait for something that its grant does not allow, or to keys that it lost since `before`? */
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

/** Ends a client whose rules have changed while the owner was told what it asked for under `asked`. */
export function endUnlessAllowed(client: RespClient, asked: KvGrant): void {
  if (!client.link.mayHear() || client.grant === asked) return;
  if (hearsForbidden(client, asked)) client.link.cut('revoked');
}

function isDenied(grant: KvGrant, ...words: readonly ByteString[]): boolean {
  return denialOf(grant, findCommand(words) as CommandSpec, words) !== undefined;
}

/** Patterns are compared letter by letter, as Redis does it with those of channels. */
function losesKeys(before: KvGrant, now: KvGrant): boolean {
  const kept = new Set(now.permissions?.keyPatterns);
  if (kept.has(ALL_KEYS)) return false;
  const had = before.permissions?.keyPatterns ?? [ALL_KEYS];
  // `~a` is more than `%R~a`.
  return had.some((pattern) => !kept.has(pattern) && !kept.has(pattern.slice(pattern.indexOf('~'))));
}
