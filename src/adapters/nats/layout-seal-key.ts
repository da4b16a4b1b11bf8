/**
 * Which key seals the secrets of an installation. Its processes share one key file; a machine that made a key of its own
 * could neither read what others sealed nor be read by them, so the layout names the key and a second one is refused.
 *
 *  LSK1 the first process to start records its key; of two at once, one does
 *  LSK2 nobody else changes it, but a person who says so: what the former key sealed cannot be opened any more
 */
import { MillraceError } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { decodeLayout, encodeLayout, LAYOUT_KEY, layoutStore } from './layout-record.js';
import { Names } from './subjects.js';

/** @returns the key that counts: the recorded one, or `keyId` from now on. @throws JOURNAL_UNAVAILABLE */
export function agreeOnSealKey(connections: NatsConnections, prefix: string, keyId: string): Promise<string> {
  return recordSealKey(connections, prefix, (recorded) => recorded ?? keyId);
}

/** `keyId` counts from now on. @throws JOURNAL_UNAVAILABLE */
export async function replaceSealKey(connections: NatsConnections, prefix: string, keyId: string): Promise<void> {
  await recordSealKey(connections, prefix, () => keyId);
}

async function recordSealKey(
  connections: NatsConnections,
  prefix: string,
  choose: (recorded: string | undefined) => string,
): Promise<string> {
  const store = layoutStore(connections, new Names(prefix));
  const found = await store.get(LAYOUT_KEY);
  if (found === undefined) throw new MillraceError('JOURNAL_UNAVAILABLE', 'the layout cannot be read');
  const record = decodeLayout(found.value);
  const sealKeyId = choose(record.sealKeyId);
  if (sealKeyId === record.sealKeyId) return sealKeyId;
  const outcome = await store.update(LAYOUT_KEY, encodeLayout({ ...record, sealKeyId }), found.revision);
  // Somebody else's may have been first, or nobody knows: what is recorded is looked at again.
  return outcome.kind === 'stored' ? sealKeyId : recordSealKey(connections, prefix, choose);
}
