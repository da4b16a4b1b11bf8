/** Records the reads of a client that tracks keys. */
import { type CommandSpec, keysOf } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { RespClient } from './resp-client.js';

/**
 * Tracks the keys that the command reads, if they should be tracked. CLIENT CACHING applies to one command or one
 * transaction.
 * @returns the keys that were not tracked before; undefined: the command tracks none
 */
export function trackReads(
  client: RespClient,
  grant: KvGrant,
  spec: CommandSpec,
  words: readonly ByteString[],
  context: 'alone' | 'in-transaction' = 'alone',
): readonly ByteString[] | undefined {
  const { tracking } = client;
  if (tracking === undefined || tracking.isBroadcast) return undefined;
  const { mode, caching } = tracking;
  if (context === 'alone') tracking.caching = undefined;
  if (mode === 'opt-in' && caching !== 'yes') return undefined;
  if (mode === 'opt-out' && caching === 'no') return undefined;
  // A script's reads are known after it has run; until then all its keys count as read.
  if (!spec.flags.includes('readonly') && !spec.flags.includes('script')) return undefined;
  return client.endpoint.tracking.note(client, grant, keysOf(spec, words));
}
