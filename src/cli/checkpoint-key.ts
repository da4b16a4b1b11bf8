/**
 * The key that checkpoints are signed with: Ed25519, in a private file beside that of the secrets.
 *
 *  CK1 the file is made once, whole and private, by the first checkpoint; of two that make it at once one counts
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../adapters/node/index.js';
import { fingerprintOf } from '../journal/index.js';
import { isMillraceError, MillraceError } from '../kernel/index.js';

const FILE_NAME = 'checkpoint.key';

/** @param sealKeyFile  the file that it lies beside */
export function checkpointKeyFile(sealKeyFile: string): string {
  return join(dirname(sealKeyFile), FILE_NAME);
}

/** Made when it is not there. @throws BAD_CONFIG when the file holds something else, or cannot be made */
export async function openCheckpointKey(path: string): Promise<KeyObject> {
  return (await readKey(path)) ?? (await makeKey(path));
}

/** Undefined where no checkpoint was ever taken. @throws BAD_CONFIG */
export async function checkpointFingerprint(path: string): Promise<string | undefined> {
  const key = await readKey(path);
  return key === undefined ? undefined : fingerprintOf(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

async function readKey(path: string): Promise<KeyObject | undefined> {
  try {
    const pem = await readFileIfThere(path);
    if (pem === undefined) return undefined;
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 key');
    return key;
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `the key file ${path} cannot be used`, {}, cause);
  }
}

/** CK1. */
async function makeKey(path: string): Promise<KeyObject> {
  await ensureDirectory(dirname(path));
  const { privateKey } = generateKeyPairSync('ed25519');
  await writeNewFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()).catch((error: unknown) => {
    if (!isMillraceError(error, 'CONFLICT')) throw error;
  });
  const key = await readKey(path);
  if (key === undefined) throw new MillraceError('BAD_CONFIG', `the key file ${path} is gone again`);
  return key;
}

/**
 * Private, whole, and never over a file that is there: a draft is linked into place, which fails when somebody was
 * faster. @throws CONFLICT, BAD_CONFIG
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await writeFileAtomic(draft, text, PRIVATE_FILE);
    await link(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new MillraceError('CONFLICT', `there is a file ${path} already`);
    }
    throw new MillraceError('BAD_CONFIG', `cannot write ${path}`, {}, cause);
  } finally {
    await rm(draft, { force: true });
  }
}
