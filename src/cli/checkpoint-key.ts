/**
 * The key that signs checkpoints: Ed25519, in a private file next to the key file of secrets.
 *
 *  CK1 the first checkpoint creates the file, complete and private; of two concurrent attempts, one key is kept and
 *      used
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDirectory, PRIVATE_FILE, readFileIfThere, writeFileAtomic } from '../adapters/node/index.js';
import { fingerprintOf } from '../journal/index.js';
import { isMillraceError, MillraceError } from '../kernel/index.js';

const FILE_NAME = 'checkpoint.key';

/** @param sealKeyFile  the file in the same directory */
export function checkpointKeyFile(sealKeyFile: string): string {
  return join(dirname(sealKeyFile), FILE_NAME);
}

/** Creates the key if it is missing. @throws BAD_CONFIG if the file has other content or cannot be created */
export async function openCheckpointKey(path: string): Promise<KeyObject> {
  return (await readKey(path)) ?? (await makeKey(path));
}

/** Undefined before the first checkpoint. @throws BAD_CONFIG */
export async function checkpointFingerprint(path: string): Promise<string | undefined> {
  const key = await readKey(path);
  return key === undefined ? undefined : fingerprintOf(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

async function readKey(path: string): Promise<KeyObject | undefined> {
  try {
    const pem = await readFileIfThere(path);
    if (pem === undefined) return undefined;
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('it does not hold an Ed25519 key');
    return key;
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `the key file ${path} cannot be used`, {}, cause);
  }
}

/** Creates the key once (CK1: of two concurrent attempts one key is kept). */
async function makeKey(path: string): Promise<KeyObject> {
  await ensureDirectory(dirname(path));
  const { privateKey } = generateKeyPairSync('ed25519');
  await writeNewFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()).catch((error: unknown) => {
    if (!isMillraceError(error, 'CONFLICT')) throw error;
  });
  const key = await readKey(path);
  if (key === undefined) throw new MillraceError('BAD_CONFIG', `the key file ${path} was removed while it was read`);
  return key;
}

/**
 * Writes a private file completely, without replacing an existing one: it writes a draft and links it, which fails if
 * the file exists. @throws CONFLICT, BAD_CONFIG
 */
export async function writeNewFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    await writeFileAtomic(draft, text, PRIVATE_FILE);
    await link(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new MillraceError('CONFLICT', `the file ${path} exists already`);
    }
    throw new MillraceError('BAD_CONFIG', `cannot write ${path}`, {}, cause);
  } finally {
    await rm(draft, { force: true });
  }
}
