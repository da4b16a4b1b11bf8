/** The data key of this machine's data directory, if its data is encrypted. */
import { join } from 'node:path';
import type { Config } from '../../../config/index.js';
import { assert, MillraceError, type Random } from '../../../kernel/index.js';
import { type DataKey, DataKeyFile, readFileIfThere } from '../../node/index.js';
import { LAYOUT_MARK } from './opened-nats.js';

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
