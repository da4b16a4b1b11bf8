/** `millrace db` and `millrace journal`, given the world they ask. */
import { openAdminWorld } from '../composition/index.js';
import { type Environment, loadConfig } from '../config/index.js';
import type { PartitionName } from '../kernel/index.js';
import { accountCommand } from './account-command.js';
import { dbCommand } from './db-command.js';
import { journalCommand } from './journal-command.js';

export async function runDbCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { config } = loadConfig(env);
  const world = await openAdminWorld(config, true);
  try {
    const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
    return await dbCommand(argv, {
      client: world.client,
      sealing: await world.sealing(),
      random: world.random,
      defaultLimits: { maxCommandBytes, maxRequestsPerDay },
      write: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
      flush: async ({ id: database }, partitions: readonly PartitionName[]) => {
        for (const partition of partitions) {
          await world.gateway.execute({ database, partition, mode: 'single', commands: [['FLUSHALL']], bytes: 8 });
        }
      },
    });
  } finally {
    await world.close();
  }
}

export async function runAccountCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { config } = loadConfig(env);
  const world = await openAdminWorld(config, true);
  try {
    return await accountCommand(argv, {
      client: world.client,
      sealing: await world.sealing(),
      random: world.random,
      write: (text) => void process.stdout.write(text),
      writeError: (text) => void process.stderr.write(text),
    });
  } finally {
    await world.close();
  }
}

export async function runJournalCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { config } = loadConfig(env);
  const world = await openAdminWorld(config, false);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  try {
    return await journalCommand(argv, {
      journal: world.journal,
      objects: world.objects,
      log: world.log,
      resolveDatabase: (nameOrId) => world.placeOf(nameOrId),
      resolveAccount: (id) => world.placeOfAccount(id),
      write: writeOut,
      writeError: (line) => void process.stderr.write(`${line}\n`),
      signal: stop.signal,
    });
  } finally {
    await world.close();
  }
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
