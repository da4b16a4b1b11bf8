/** The data key of this machine's data directory, if its data is encrypted. */
import { join } from 'node:path';
import type { Config } from '../../../config/index.js';
import { assert, MillraceError, type Random } from '../../../kernel/index.js';
import type { Sealing } from '../../../ports/index.js';
import { type DataKey, DataKeyFile, openKeyFile, readFileIfThere } from '../../node/index.js';
import { agreeOnSealKey } from '../layout-seal-key.js';
import { LAYOUT_MARK, type OpenedNats } from './opened-nats.js';

/**
 * @returns undefined without encryption
 * @throws BAD_CONFIG for a missing or wrong key, and for a key to a directory with data that is not encrypted
 */
export async function dataKeyOf(config: Config, random: Random): Promise<DataKey | undefined> {
  await refuseUnfitKey(config, random);
  const { dataDir, encryptionKey } = config.storage;
  return encryptionKey && new DataKeyFile(dataDir, random).openOrMake(encryptionKey.reveal());
}

/** As `dataKeyOf`; no file is made. @returns ids of the keys that open the data key; undefined: there is none yet */
export async function refuseUnfitKey({ storage, isEmbedded }: Config, random: Random) {
  const { dataDir, encryptionKey } = storage;
  assert(encryptionKey?.isReference !== true, 'the encryption key was not read from the place that its setting names');
  const file = new DataKeyFile(dataDir, random);
  const keyIds = await file.keyIds();
  if (encryptionKey === undefined) {
    if (keyIds === undefined) return undefined;
    const reason = `the data in ${dataDir} is encrypted: set MILLRACE_ENCRYPTION_KEY to key ${keyIds.join(' or ')}`;
    throw new MillraceError('BAD_CONFIG', reason);
  }
  if (keyIds !== undefined) await file.open(encryptionKey.reveal());
  else if (isEmbedded && (await readFileIfThere(join(dataDir, LAYOUT_MARK))) !== undefined) {
    const reason =
      `MILLRACE_ENCRYPTION_KEY is set, and the data in ${dataDir} is not encrypted: ` +
      'make a backup and restore it into a new data directory with the key, or remove the setting';
    throw new MillraceError('BAD_CONFIG', reason);
  }
  return keyIds;
}

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
