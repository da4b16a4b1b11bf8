/** `millrace db` and `millrace journal`, given the world they ask. */
import { readFile } from 'node:fs/promises';
import { CONTROL_SHARD, METER_SHARD, shardNames } from '../adapters/nats/index.js';
import { type AdminWorld, openAdminWorld } from '../composition/index.js';
import { type Config, type Environment, loadConfig } from '../config/index.js';
import { MillraceError, type PartitionName } from '../kernel/index.js';
import { foldOfPartition, serveReplay } from '../replay/index.js';
import { type AccountCommandDeps, accountCommand } from './account-command.js';
import { checkpointFingerprint, checkpointKeyFile, openCheckpointKey, writeNewFile } from './checkpoint-key.js';
import { dbCommand } from './db-command.js';
import { type JournalCommandDeps, journalCommand } from './journal-command.js';

export function runDbCommand(argv: readonly string[], env: Environment): Promise<number> {
  return withWorld(env, true, async (world, config) => {
    const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
    return dbCommand(argv, {
      ...(await controlDeps(world)),
      defaultLimits: { maxCommandBytes, maxRequestsPerDay },
      flush: async ({ id: database }, partitions: readonly PartitionName[]) => {
        for (const partition of partitions) {
          await world.gateway.execute({ database, partition, mode: 'single', commands: [['FLUSHALL']], bytes: 8 });
        }
      },
    });
  });
}

export function runAccountCommand(argv: readonly string[], env: Environment): Promise<number> {
  return withWorld(env, true, async (world) => accountCommand(argv, await controlDeps(world)));
}

export function runJournalCommand(argv: readonly string[], env: Environment): Promise<number> {
  return withWorld(env, false, (world, config) => {
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    process.once('SIGTERM', () => stop.abort());
    return journalCommand(argv, journalDeps(world, config, stop.signal));
  });
}

/** @param asksControl the control actor is to be asked, not the journal alone */
async function withWorld(
  env: Environment,
  asksControl: boolean,
  run: (world: AdminWorld, config: Config) => Promise<number>,
): Promise<number> {
  const { config } = loadConfig(env);
  const world = await openAdminWorld(config, asksControl);
  try {
    return await run(world, config);
  } finally {
    await world.close();
  }
}

async function controlDeps(world: AdminWorld): Promise<AccountCommandDeps> {
  return {
    client: world.client,
    sealing: await world.sealing(),
    random: world.random,
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  };
}

function journalDeps(world: AdminWorld, config: Config, signal: AbortSignal): JournalCommandDeps {
  const { journal, objects, leases, log, clock, timers, random, layout } = world;
  const { kv, queue } = shardNames(layout);
  const keyFile = checkpointKeyFile(config.storage.sealKeyFile);
  const { wireAlias } = config.faces;
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
    resolveDatabase: (nameOrId) => world.placeOf(nameOrId),
    resolveAccount: (id) => world.placeOfAccount(id),
    serveReplay: async (database, replayed, at) =>
      serveReplay({ clock, timers, random, log, access: await world.followControl() }, database, replayed, {
        ...at,
        maxCommandBytes: config.bounds.maxCommandBytes,
        aliases: wireAlias === undefined ? [] : [wireAlias],
      }),
    write: writeOut,
    writeError: (line) => void process.stderr.write(`${line}\n`),
    signal,
  };
}

// A reader that has seen enough (`| head`) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

/** Waits for a slow reader; an export is larger than any buffer should be. */
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
