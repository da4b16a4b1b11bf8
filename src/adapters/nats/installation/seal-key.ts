/** The key that seals secrets: all processes of an installation share it, on all machines. */

import type { Config } from '../../../config/index.js';
import { MillraceError, type Random } from '../../../kernel/index.js';
import type { Sealing } from '../../../ports/index.js';
import { openKeyFile, readFileIfThere } from '../../node/index.js';
import { agreeOnSealKey } from '../layout-seal-key.js';
import type { OpenedNats } from './opened-nats.js';

/** Only the first process of the installation creates the key. @throws BAD_CONFIG when this machine has another key */
export async function sealingOf(config: Config, nats: OpenedNats, random: Random): Promise<Sealing> {
  const { sealKeyFile } = config.storage;
  // There is one process, and the key is in its data directory.
  if (config.isEmbedded) return openKeyFile(sealKeyFile, random);
  const { sealKeyId } = nats.layout;
  const share = `copy the file from a machine that runs this installation, or set MILLRACE_SEAL_KEY_FILE`;
  if (sealKeyId !== undefined && (await readFileIfThere(sealKeyFile)) === undefined) {
    throw new MillraceError('BAD_CONFIG', `there is no seal key ${sealKeyId} at ${sealKeyFile}: ${share}`);
  }
  if (sealKeyId === undefined && !config.process.roles.some((role) => role === 'kv' || role === 'queue')) {
    throw new MillraceError('JOURNAL_UNAVAILABLE', 'the first process that owns shards records the seal key');
  }
  const sealing = await openKeyFile(sealKeyFile, random);
  const keyId = await agreeOnSealKey(nats.connections, config.nats.natsPrefix, sealing.keyId);
  if (keyId === sealing.keyId) return sealing;
  const other = `${sealKeyFile} holds seal key ${sealing.keyId}, and this installation has ${keyId}`;
  throw new MillraceError('BAD_CONFIG', `${other}: ${share}`);
}
