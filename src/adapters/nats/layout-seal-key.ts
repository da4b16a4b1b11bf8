/**
 * Which key seals the secrets of an installation. Its processes share one key file; a machine that made a key of its own
 * could neither read what others sealed nor be read by them, so the layout names the key and a second one is refused.
 *
 *  LSK1 the first process to start records its key; of two at once, one does
 *  LSK2 nobody else changes it, but a person who says so: what the former key sealed cannot be opened any more
 */
import type { NatsConnections } from './connection.js';
import { changeLayout } from './layout-record.js';

/** @returns the key that counts: the recorded one, or `keyId` from now on. @throws JOURNAL_UNAVAILABLE */
export async function agreeOnSealKey(connections: NatsConnections, prefix: string, keyId: string): Promise<string> {
  const { sealKeyId = keyId } = await changeLayout(connections, prefix, (record) =>
    record.sealKeyId === undefined ? { ...record, sealKeyId: keyId } : record,
  );
  return sealKeyId;
}

/** `keyId` counts from now on. @throws JOURNAL_UNAVAILABLE */
export async function replaceSealKey(connections: NatsConnections, prefix: string, keyId: string): Promise<void> {
  await changeLayout(connections, prefix, (record) =>
    record.sealKeyId === keyId ? record : { ...record, sealKeyId: keyId },
  );
}
