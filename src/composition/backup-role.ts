/** Moments of databases in one process: what the management face is given as `Backups`. */
import type { DependencyContainer } from 'tsyringe';
import { DatabaseKeeper } from '../actors/control/index.js';
import { MAX_REPLACEMENT_BYTES } from '../actors/kv-shard/index.js';
import { JobThreads } from '../adapters/node/index.js';
import type { KeepRequest, Kept } from '../journal/backup/index.js';
import type { Backups } from '../ports/index.js';
import type { ThreadWorld } from './thread-parts.js';
import * as tokens from './tokens.js';

export interface BackupRole {
  readonly backups: Backups;
  /** Removes objects that belong to no moment. @returns of how many */
  sweep(): Promise<number>;
  stop(): Promise<void>;
}

const RETRY_MS = 1000;

export function backupRole(c: DependencyContainer): BackupRole {
  const config = c.resolve(tokens.CONFIG);
  const { timers, log } = tokens.portsOf(c);
  const world = c.resolve(tokens.WORLD);
  const { client: control, view } = c.resolve(tokens.CONTROL);
  const threads = new JobThreads<ThreadWorld, KeepRequest, Kept>({
    entry: new URL('./backup-keeper-worker.js', import.meta.url),
    world: { nats: world.options, prefix: config.nats.natsPrefix },
    log,
    nameOf: ({ backup }) => `backup ${backup}`,
    lost: 'nothing was kept',
    detailsOf: ({ backup }) => ({ backup }),
  });
  const keeper = new DatabaseKeeper(
    {
      objects: c.resolve(tokens.OBJECTS),
      gateway: c.resolve(tokens.GATEWAY),
      control,
      timers,
      log,
      partitionsOf: (database) => view.state.live(database)?.partitions,
      knownBackups: () => {
        if (!view.isFresh) return undefined;
        const known = [...view.state.backups.byId.values()].filter(({ state }) => state !== 'failed');
        return new Set(known.map(({ id }) => id));
      },
      keep: (request) => threads.run(request),
    },
    {
      clusterId: world.layout.clusterId,
      kvShards: world.layout.kvShards,
      maxPartitionBytes: MAX_REPLACEMENT_BYTES,
      settleMs: 2 * config.ownership.controlStaleMs,
      retryMs: RETRY_MS,
    },
  );
  return {
    backups: keeper,
    sweep: () => keeper.sweepUnknown(),
    stop: async () => {
      const ended = keeper.close();
      await threads.close();
      await ended;
    },
  };
}
