/**
 * The key that seals the secrets of an installation. Its processes share one key file. A machine with a different key
 * could not exchange secrets with them, so the layout names the key and another one is refused.
 *
 *  LSK1 the first process to start records its key; of two simultaneous ones, one does
 *  LSK2 only a person's command changes it, because secrets sealed with the former key can no longer be opened
 */
import type { NatsConnections } from './connection.js';
import { changeLayout } from './layout-record.js';

/** @returns the valid key: the recorded one, or `keyId` from now on. @throws JOURNAL_UNAVAILABLE */
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
