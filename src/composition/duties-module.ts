/** Background duties of the control shard's owner with the data of databases. */
import type { DependencyContainer } from 'tsyringe';
import {
  BranchSweep,
  DailyBackups,
  DatabaseKeeper,
  DeletedData,
  ExpiredBranches,
  PartitionChanges,
  ProviderChecks,
  Sweeps,
} from '../actors/control/index.js';
import { MAX_REPLACEMENT_BYTES, PartitionRemoval } from '../actors/kv-shard/index.js';
import { SessionSweep } from '../actors/runtime/index.js';
import { JobProcesses } from '../adapters/node/index.js';
import { triggerDesk } from './queue-module.js';
import { threadTaskOf } from './thread-container.js';
import * as tokens from './tokens.js';

const BACKUP_RETRY_MS = 1000;
/** An object of an hour ago has been written completely or was abandoned. */
const OBJECTS_EVERY_MS = 3_600_000;
/** A branch is made within minutes. */
const BRANCHES_EVERY_MS = 600_000;
const SESSIONS_EVERY_MS = 60_000;

export function registerDuties(c: DependencyContainer): void {
  tokens.once(c, tokens.BACKUP_JOBS, () => {
    return new JobProcesses({
      entry: new URL('./backup-keeper-worker.js', import.meta.url),
      installation: threadTaskOf(c),
      log: c.resolve(tokens.LOG),
      lost: 'nothing was kept',
      detailsOf: ({ backup }) => ({ backup }),
    });
  });
  tokens.once(c, tokens.BRANCH_JOBS, () => {
    return new JobProcesses({
      entry: new URL('./backup-keeper-worker.js', import.meta.url),
      installation: threadTaskOf(c),
      log: c.resolve(tokens.LOG),
      lost: 'the branch was not made',
      detailsOf: ({ branch }) => ({ branch }),
    });
  });
  tokens.once(c, tokens.BACKUPS, backups);
  tokens.once(c, tokens.REMOVAL, () => {
    const { timers, log } = tokens.storagePortsOf(c);
    return new PartitionRemoval({ gateway: c.resolve(tokens.GATEWAY), timers, log });
  });
}

export async function startDuties(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  const { clock, timers, log, leases, objects } = tokens.storagePortsOf(c);
  const control = c.resolve(tokens.CONTROL);
  const keeper = c.resolve(tokens.BACKUPS);
  life.atEnd(async () => {
    const ended = keeper.close();
    await Promise.all([c.resolve(tokens.BACKUP_JOBS).close(), c.resolve(tokens.BRANCH_JOBS).close()]);
    await ended;
  });
  const removal = c.resolve(tokens.REMOVAL);
  life.atEnd(() => removal.stop());
  const isOwner = () => control.isOwner();
  const shared = { state: () => control.view.state, isOwner, clock, timers, log };
  await life.run(new DailyBackups({ ...shared, control: control.client, backups: keeper }));
  await life.run(new DeletedData({ ...shared, removal }));
  const gateway = c.resolve(tokens.GATEWAY);
  await life.run(new PartitionChanges({ ...shared, control: control.client, gateway, triggers: triggerDesk(c) }));
  await life.run(new ExpiredBranches({ ...shared, control: control.client }));
  const providers = tokens.ifRegistered(c, tokens.IDENTITY_PROVIDERS);
  if (providers !== undefined) {
    const ports = { ...shared, control: control.client, providers, sealing: c.resolve(tokens.SEALING) };
    await life.run(new ProviderChecks(ports, c.resolve(tokens.CONFIG).signIn.signInCheckMs));
  }
  const branches = new BranchSweep({ objects, knownBranches: () => control.view.knownBranches() });
  const sessions = new SessionSweep(leases, clock);
  // Remains of interrupted work.
  const sweeps = [
    { name: 'sessions', everyMs: SESSIONS_EVERY_MS, run: () => sessions.look() },
    { name: 'moments', everyMs: OBJECTS_EVERY_MS, run: () => keeper.sweepUnknown() },
    { name: 'branches', everyMs: BRANCHES_EVERY_MS, run: () => branches.look() },
    { name: 'objects', everyMs: OBJECTS_EVERY_MS, run: () => objects.sweepLoose() },
  ];
  await life.run(new Sweeps({ isOwner, timers, log, sweeps }));
}

/** Stored moments of databases; the management endpoint's port `Backups`. */
function backups(c: DependencyContainer): DatabaseKeeper {
  const { ownership } = c.resolve(tokens.CONFIG);
  const { clusterId, kvShards } = c.resolve(tokens.NATS).layout;
  const { client: control, view } = c.resolve(tokens.CONTROL);
  return new DatabaseKeeper(
    {
      ...tokens.storagePortsOf(c),
      gateway: c.resolve(tokens.GATEWAY),
      control,
      layoutOf: (database) => view.state.live(database),
      knownBackups: () => view.knownBackups(),
      keep: (request) => c.resolve(tokens.BACKUP_JOBS).run(request),
    },
    {
      clusterId,
      kvShards,
      maxPartitionBytes: MAX_REPLACEMENT_BYTES,
      settleMs: 2 * ownership.controlStaleMs,
      retryMs: BACKUP_RETRY_MS,
    },
  );
}
