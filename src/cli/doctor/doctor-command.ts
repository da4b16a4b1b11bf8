/**
 * `millrace doctor`: checks for common reasons of a failed start, one line each, with advice.
 *
 *  DOC1 it changes no state: no file is created, locked or fetched, and no process is started
 */
import { join } from 'node:path';
import { JsonLog, SystemClock, streamLines } from '../../adapters/node/index.js';
import type { Config, Environment } from '../../config/index.js';
import { describeError } from '../../kernel/index.js';
import { loadedConfig } from '../loaded-config.js';
import { paint } from '../paint.js';
import { FAILED, type ParsedArguments, shown } from '../parser.js';
import { type Diagnosis, fail, ok, warn } from './diagnosis.js';
import { clockCheck, flockCheck, nodeCheck, openFilesCheck, readLimits, serverCheck } from './machine-checks.js';
import {
  backupsCheck,
  directoryCheck,
  diskCheck,
  encryptionCheck,
  holderOf,
  keyCheck,
  lockCheck,
  portsCheck,
} from './place-checks.js';

/** @returns 0, or 1 if a start would fail */
export async function doctorCommand(
  asked: ParsedArguments,
  env: Environment,
  write: (text: string) => void,
): Promise<number> {
  const findings = [nodeCheck(process.versions.node)];
  const { config, finding } = settingsCheck(env);
  findings.push(finding);
  if (config !== undefined) findings.push(...(await checksOf(config, env)));
  const isWell = findings.every(({ state }) => state !== 'fail');
  write(shown(asked, { ok: isWell, checks: findings }, () => findings.map(line).join('')));
  return isWell ? 0 : FAILED;
}

function settingsCheck(env: Environment): { config: Config | undefined; finding: Diagnosis } {
  try {
    const { config, warnings } = loadedConfig(env);
    const given = Object.keys(env).filter((name) => name.startsWith('MILLRACE_')).length;
    if (warnings.length === 0) return { config, finding: ok('settings', `${given} set, all valid`) };
    return { config, finding: warn('settings', warnings.join('; '), 'all settings are in docs/settings.md') };
  } catch (error) {
    const advice = 'correct the setting and run doctor again: the other checks were skipped (docs/settings.md)';
    return { config: undefined, finding: fail('settings', describeError(error), advice) };
  }
}

async function checksOf(config: Config, env: Environment): Promise<Diagnosis[]> {
  const { storage, endpoints, isEmbedded } = config;
  const log = new JsonLog({ level: 'error', clock: new SystemClock(), write: streamLines(process.stderr) });
  const directory = await directoryCheck(storage);
  const isUsable = directory.state !== 'fail';
  const holder = await holderOf(storage.dataDir);
  const written = ['lock', 'layout.json', 'nats/nats.log'].map((name) => join(storage.dataDir, name));
  return [
    await serverCheck(config, log),
    ...(isEmbedded ? [await flockCheck(env.PATH ?? '')] : []),
    directory,
    ...(isUsable
      ? [await diskCheck(storage), lockCheck(holder), await keyCheck(storage), await encryptionCheck(config)]
      : []),
    await backupsCheck(config, Date.now()),
    await portsCheck(endpoints, holder),
    await clockCheck(Date.now(), [new URL(import.meta.url), ...written]),
    openFilesCheck(await readLimits(), config),
  ];
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function line({ check, state, found, advice }: Diagnosis): string {
  const then = advice === undefined ? '' : `\n      ${''.padEnd(15)}${advice}`;
  return `${paint(process.stdout, COLOURS[state], state.padEnd(6))}${check.padEnd(15)}${found}${then}\n`;
}
