/** Background duties of the control shard's owner with the data of databases. */
import type { DependencyContainer } from 'tsyringe';
import { AuditFileWriter } from '../actors/audit/index.js';
import {
  BranchSweep,
  DailyBackups,
  DatabaseKeeper,
  DeletedData,
  ExpiredBranches,
  InstallationCopy,
  PartitionChanges,
  ProviderChecks,
  Sweeps,
} from '../actors/control/index.js';
import { MAX_REPLACEMENT_BYTES, PartitionRemoval } from '../actors/kv-shard/index.js';
import { SessionSweep } from '../actors/runtime/index.js';
import { placeOptionsOf } from '../adapters/backups/index.js';
import { lockAuditDir } from '../adapters/nats/embedded/index.js';
import { AuditDirectory, JobProcesses, keyIdOf, VERSION } from '../adapters/node/index.js';
import type { CopyNews } from '../journal/backup/index.js';
import { type CopyJob, copiedParts } from './copy-installation.js';
import { triggerDesk } from './queue-module.js';
import { threadTaskOf } from './thread-container.js';
import type { ThreadTask } from './thread-tasks.js';
import * as tokens from './tokens.js';

const BACKUP_RETRY_MS = 1000;
/** Two parts of uploads, a message, and the SDK. */
const COPIER_HEAP_MB = 256;
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
  if (c.resolve(tokens.CONFIG).backups.backupTo !== undefined)
    tokens.once(c, tokens.INSTALLATION_COPY, installationCopy);
  const { auditDir } = c.resolve(tokens.CONFIG).storage;
  if (auditDir !== undefined) {
    tokens.once(c, tokens.AUDIT_FILES, () => {
      const isOwner = () => c.resolve(tokens.CONTROL).isOwner();
      const files = new AuditDirectory(auditDir, () => lockAuditDir(auditDir));
      return new AuditFileWriter({ ...tokens.portsOf(c), files, isOwner });
    });
  }
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
  const exports = [tokens.ifRegistered(c, tokens.INSTALLATION_COPY), tokens.ifRegistered(c, tokens.AUDIT_FILES)];
  for (const one of exports) if (one !== undefined) await life.run(one);
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

/** The copy of the installation at the place of backups. */
function installationCopy(c: DependencyContainer): InstallationCopy {
  const config = c.resolve(tokens.CONFIG);
  const { backupTo = '', backupRoundMs: roundMs, backupFullMs: fullMs, backupKeepMs: keepMs } = config.backups;
  const { layout } = c.resolve(tokens.NATS);
  const ports = tokens.portsOf(c);
  const jobs = new JobProcesses<ThreadTask, CopyJob, void>({
    entry: new URL('./backup-keeper-worker.js', import.meta.url),
    installation: threadTaskOf(c),
    log: ports.log,
    lost: 'copying stopped',
    detailsOf: ({ installation: { clusterId } }) => ({ clusterId }),
    timeLimitMs: 'none',
    maxHeapMb: COPIER_HEAP_MB,
  });
  const copy = async (signal: AbortSignal, onNews: (news: CopyNews) => void) => {
    const keyId = await keyIdOf(config.storage.sealKeyFile, ports.random);
    const job: CopyJob = {
      place: placeOptionsOf(config, backupTo),
      installation: copiedParts(layout),
      maker: { madeBy: VERSION, keyId },
      times: { roundMs, fullMs, keepMs },
      key: config.storage.encryptionKey?.reveal(),
    };
    await jobs.run(job, { signal, onNews: (news) => onNews(news as CopyNews) });
  };
  const isOwner = () => c.resolve(tokens.CONTROL).isOwner();
  return new InstallationCopy({ ...ports, isOwner, copy }, backupTo);
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
