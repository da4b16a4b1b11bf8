/** Checks of `millrace doctor` about the configured place: directory, disk, lock, key, ports. */
import { readFile, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LAYOUT_MARK, refuseUnfitKey } from '../../adapters/nats/installation/index.js';
import { directoryTrouble, keyIdOf, masterKeyId, NodeRandom, readFileIfThere } from '../../adapters/node/index.js';
import type { Config } from '../../config/index.js';
import { describeError, listenError } from '../../kernel/index.js';
import { OLD_COPY_MS } from '../../ports/index.js';
import { listBackups } from '../backup-steps.js';
import { listens } from '../free-port.js';
import { type Diagnosis, fail, ok, warn } from './diagnosis.js';

const GIB = 1024 ** 3;
/** Free space below this number of reserves causes a warning. */
const SCARCE = 8;
const OTHERS = 0o077;

export async function directoryCheck({ dataDir }: Config['storage']): Promise<Diagnosis> {
  const trouble = await directoryTrouble(dataDir);
  if (trouble !== undefined) return fail('data directory', trouble, 'set MILLRACE_DATA_DIR to another directory');
  const isThere = (await readFileIfThere(join(dataDir, LAYOUT_MARK))) !== undefined;
  return ok('data directory', isThere ? resolve(dataDir) : `${resolve(dataDir)}, created by the first start`);
}

export async function diskCheck({ dataDir, diskReserveBytes }: Config['storage']): Promise<Diagnosis> {
  const { bavail, bsize } = await statfs(await nearest(dataDir));
  const free = bavail * bsize;
  const found = `${gibibytes(free)} free, ${gibibytes(diskReserveBytes)} in reserve`;
  const advice = 'free space, or set MILLRACE_DATA_DIR to a directory on another disk (docs/operations/disk.md)';
  if (free < diskReserveBytes) return fail('disk', found, `writes that grow data would be refused: ${advice}`);
  return free < SCARCE * diskReserveBytes ? warn('disk', found, advice) : ok('disk', found);
}

/** @returns the process that holds the data directory, as noted in the lock file */
export async function holderOf(dataDir: string, locks = '/proc/locks'): Promise<string | undefined> {
  const path = join(dataDir, 'lock');
  const file = await stat(path).catch(() => undefined);
  if (file === undefined) return undefined;
  const held = await readFile(locks, 'utf8').catch(() => '');
  const isHeld = new RegExp(`FLOCK .*:${file.ino} `).test(held);
  return isHeld ? (await readFile(path, 'utf8')).trim() || 'unknown' : undefined;
}

export function lockCheck(holder: string | undefined): Diagnosis {
  return ok('lock', holder === undefined ? 'free' : `held by process ${holder}, which serves this directory`);
}

export async function keyCheck({ dataDir, sealKeyFile }: Config['storage']): Promise<Diagnosis> {
  const check = 'seal key';
  if ((await stat(sealKeyFile).catch(() => undefined)) === undefined) {
    const isFirst = (await readFileIfThere(join(dataDir, LAYOUT_MARK))) === undefined;
    if (isFirst) return ok(check, `${sealKeyFile}, created by the first start`);
    const advice = 'restore the file, or set MILLRACE_SEAL_KEY_FILE; if it is lost, see docs/operations/backups.md';
    return fail(check, `${sealKeyFile} does not exist, and stored secrets are sealed with it`, advice);
  }
  try {
    const id = await keyIdOf(sealKeyFile, new NodeRandom());
    const { mode } = await stat(sealKeyFile);
    if ((mode & OTHERS) === 0) return ok(check, `${id}, ${sealKeyFile}`);
    return warn(check, `${sealKeyFile} can be read by others`, `chmod 600 ${sealKeyFile}`);
  } catch (error) {
    return fail(check, describeError(error), 'restore the right file, or set MILLRACE_SEAL_KEY_FILE');
  }
}

/** Lists the encrypted parts. */
export async function encryptionCheck(config: Config): Promise<Diagnosis> {
  const check = 'encryption';
  const advice = 'see docs/operations/encryption.md';
  try {
    const keyIds = await refuseUnfitKey(config, new NodeRandom());
    const { encryptionKey } = config.storage;
    if (encryptionKey === undefined) return ok(check, 'off');
    const id = masterKeyId(encryptionKey.reveal(), new NodeRandom());
    const opens =
      keyIds === undefined
        ? 'for a new data key'
        : `of ${keyIds.length} that ${keyIds.length === 1 ? 'opens' : 'open'} it`;
    const parts = `read models, indexes, credentials.env, backups${config.isEmbedded ? ', streams and object store' : ''}`;
    const found = `key ${id} ${opens}; encrypted: ${parts}`;
    return config.isEmbedded ? ok(check, found) : warn(check, `${found}; streams as the nats-server has it`, advice);
  } catch (error) {
    return fail(check, describeError(error), advice);
  }
}

/** Asks the place of backups for its folders; no file is written there. */
export async function backupsCheck(config: Config, nowMs: number): Promise<Diagnosis> {
  const check = 'backups';
  const { backupTo } = config.backups;
  if (backupTo === undefined) return ok(check, 'no continuous ones: MILLRACE_BACKUP_TO is not set');
  const advice = 'see docs/operations/backups-elsewhere.md';
  try {
    const { backups, isLocked } = await listBackups(config, backupTo);
    const lock = isLocked ? ', with object lock' : '';
    const untilMs = Math.max(0, ...backups.map((copy) => copy.untilMs));
    if (untilMs === 0) return warn(check, `${backupTo} has none yet${lock}`, 'the first process makes one');
    const seconds = Math.max(0, Math.floor((nowMs - untilMs) / 1000));
    const found = `${backupTo} ends ${seconds} s ago${lock}`;
    return nowMs - untilMs < OLD_COPY_MS ? ok(check, found) : warn(check, found, advice);
  } catch (error) {
    return fail(check, describeError(error), advice);
  }
}

const PORTS = [
  ['MILLRACE_KV_PORT', 'kvPort'],
  ['MILLRACE_QUEUE_PORT', 'queuePort'],
  ['MILLRACE_MGMT_PORT', 'mgmtPort'],
  ['MILLRACE_RESP_PORT', 'respPort'],
  ['MILLRACE_METRICS_PORT', 'metricsPort'],
] as const;

/** @param holder the process that already serves here and uses the ports */
export async function portsCheck(endpoints: Config['endpoints'], holder: string | undefined): Promise<Diagnosis> {
  const wanted = PORTS.filter(([, name]) => endpoints[name] !== 0).map(
    ([variable, name]) => [variable, endpoints[name]] as const,
  );
  const numbers = wanted.map(([, port]) => port).join(', ');
  const troubles: string[] = [];
  for (const [variable, port] of wanted) {
    await listens(endpoints.host, port).catch((error: unknown) =>
      troubles.push(describeError(listenError(variable, `${endpoints.host}:${port}`, error))),
    );
  }
  if (troubles.length === 0) return ok('ports', numbers === '' ? 'any free ones' : `${numbers}, free`);
  if (holder !== undefined) return ok('ports', `${numbers}, used by process ${holder}`);
  return fail(
    'ports',
    troubles.join('; '),
    'stop the program that uses the port, or set another port; 0 takes any free one',
  );
}

/** The directory, or its nearest existing parent. */
async function nearest(path: string): Promise<string> {
  for (let at = resolve(path); ; at = dirname(at)) {
    if ((await stat(at).catch(() => undefined)) !== undefined || at === dirname(at)) return at;
  }
}

function gibibytes(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`;
}
