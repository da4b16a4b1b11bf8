/** Which reads of a client are tracked. */
import { type CommandSpec, keysOf } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { RespClient } from './resp-client.js';

/**
 * Notes the keys that the command reads, if they are to be tracked. What CLIENT CACHING said holds for one
 * command, or for one transaction, whose end forgets it.
 * @returns those that were not noted before; undefined: none are to be tracked
 */
export function trackReads(
  client: RespClient,
  grant: KvGrant,
  spec: CommandSpec,
  words: readonly ByteString[],
  where: 'alone' | 'in-transaction' = 'alone',
): readonly ByteString[] | undefined {
  const { tracking } = client;
  if (tracking === undefined || tracking.isBroadcast) return undefined;
  const { mode, caching } = tracking;
  if (where === 'alone') tracking.caching = undefined;
  if (mode === 'opt-in' && caching !== 'yes') return undefined;
  if (mode === 'opt-out' && caching === 'no') return undefined;
  // What a script reads is not known before it has run: until then all of its keys are taken for read.
  if (!spec.flags.includes('readonly') && !spec.flags.includes('script')) return undefined;
  return client.face.tracking.note(client, grant, keysOf(spec, words));
}
