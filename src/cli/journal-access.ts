/** `millrace journal` and `millrace upgrade --check`, with a connection to the installation. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shardNames } from '../adapters/nats/index.js';
import { LAYOUT_MARK } from '../adapters/nats/installation/index.js';
import { readFileIfThere } from '../adapters/node/index.js';
import { type Config, type Environment, loadConfig } from '../config/index.js';
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL, MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../protocol/index.js';
import { foldOfPartition, serveReplay } from '../replay/index.js';
import { checkpointFingerprint, checkpointKeyFile, openCheckpointKey, writeNewFile } from './checkpoint-key.js';
import { interruptible } from './interruption.js';
import { type JournalCommandDeps, journalCommand } from './journal-command.js';
import { teller } from './journal-deps.js';
import { questionOf } from './journal-question.js';
import { verifyAll } from './journal-verify.js';
import { type ParsedArguments, UsageError } from './parser.js';
import { ProgressLine } from './progress-line.js';
import { type ReachedInstallation, withInstallation } from './reached-installation.js';

export function runJournalCommand(verb: string, asked: ParsedArguments, env: Environment): Promise<number> {
  const question = questionOf(verb, asked);
  return withJournals(env, (deps) => journalCommand(question, deps));
}

function withJournals(
  env: Environment,
  run: (deps: JournalCommandDeps, installation: ReachedInstallation) => Promise<number>,
): Promise<number> {
  return withInstallation(env, false, (installation, config) => {
    const progress = new ProgressLine(process.stderr, () => performance.now());
    return interruptible((signal) =>
      run(journalDeps(installation, config, progress, signal), installation).finally(() => progress.clear()),
    );
  });
}

/** @throws UsageError without --check; BAD_CONFIG if there is no installation; NEWER_FORMAT for data of a newer release */
export async function runUpgradeCommand(asked: ParsedArguments, env: Environment): Promise<number> {
  if (!asked.flags.has('check')) throw new UsageError('give --check: a program is upgraded by replacing it');
  const { storage, isEmbedded } = loadConfig(env).config;
  // An empty directory would become an installation.
  if (isEmbedded && (await readFileIfThere(join(storage.dataDir, LAYOUT_MARK))) === undefined) {
    throw new MillraceError('BAD_CONFIG', `the data directory ${storage.dataDir} has no installation`);
  }
  return withJournals(env, (deps, { layout }) => checkUpgrade(deps, layout.format, asked.flags.has('json')));
}

function journalDeps(
  installation: ReachedInstallation,
  config: Config,
  progress: ProgressLine,
  signal: AbortSignal,
): JournalCommandDeps {
  const { parts, layout } = installation;
  const { journal, objects, leases, log, clock, timers, random } = parts;
  const { kv, queue } = shardNames(layout);
  const keyFile = checkpointKeyFile(config.storage.sealKeyFile);
  const { wireAlias } = config.endpoints;
  return {
    journal,
    objects,
    leases,
    log,
    clock,
    random,
    foldFactory: foldOfPartition,
    shards: [CONTROL_SHARD, ...kv, ...queue],
    logs: [METER_SHARD],
    checkpoints: {
      clusterId: layout.clusterId,
      signingKey: () => openCheckpointKey(keyFile),
      fingerprint: () => checkpointFingerprint(keyFile),
      readFile: readText,
      writeFile: writeNewFile,
    },
    resolveDatabase: (nameOrId) => installation.placeOf(nameOrId),
    resolveAccount: (id) => installation.placeOfAccount(id),
    serveReplay: async (database, replayed, at) =>
      serveReplay({ clock, timers, random, log, access: await installation.followControl() }, database, replayed, {
        ...at,
        maxCommandBytes: config.bounds.maxCommandBytes,
        aliases: wireAlias === undefined ? [] : [wireAlias],
      }),
    write: (output) => {
      progress.clear();
      return writeOut(output);
    },
    progress: (line) => progress.show(line),
    writeError: (line) => {
      progress.clear();
      process.stderr.write(`${line}\n`);
    },
    signal,
  };
}

/** Waits for a slow reader, because an export may be larger than memory. */
function writeOut(output: string | Uint8Array): Promise<void> | void {
  if (process.stdout.write(output)) return;
  return new Promise((resolve) => process.stdout.once('drain', resolve));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new MillraceError('NOT_FOUND', `cannot read ${path}`, {}, cause);
  }
}

/**
 * Compares the level, reads every entry and snapshot, and builds snapshots again from their entries.
 * @param level of the stored forms @returns 0: all data is readable; 1: it is not, or is damaged
 */
async function checkUpgrade(
  deps: JournalCommandDeps,
  level: number = FIRST_FORMAT_LEVEL,
  asJson = false,
): Promise<0 | 1> {
  const tell = teller(deps, asJson);
  const isRaised = level >= FORMAT_LEVEL;
  const later = isRaised ? '' : '; after the upgrade "millrace cluster upgrade" raises it';
  await tell(
    { level, readsUpTo: FORMAT_LEVEL },
    `the data has format level ${level}, this release reads up to ${FORMAT_LEVEL}${later}\n`,
  );
  return verifyAll(deps, { verb: 'verify-all', against: undefined, signedBy: undefined, asJson });
}
