/** Installations in memory with hand-written histories, and backups of them in memory. */
import { createHash } from 'node:crypto';
import { replayFold } from '../../../src/actors/kv-shard/index.js';
import {
  type BackupManifest,
  type BackupPlanes,
  checkFiles,
  createBackup,
  type Installation,
  type PartitionDigest,
  type RestoredShard,
  readManifest,
  refuseUsedInstallation,
  restoreBackup,
  verifyBackup,
} from '../../../src/journal/backup/index.js';
import { type AuditRetention, compactShard } from '../../../src/journal/index.js';
import { FIRST_FORMAT_LEVEL, type ShardName } from '../../../src/kernel/index.js';
import type { BackupFiles, BackupPlace, Clock, FileRef, Journal, Log, ObjectStore } from '../../../src/ports/index.js';
import { BACKUP_PLANES } from '../../../src/replay/backup-planes.js';
import { CLUSTER, ShardHistory } from '../../spec/journal/shard-history.js';
import { BodyFold } from '../../support/body-fold.js';
import { MemoryJournal, MemoryObjectStore } from '../../support/memory/index.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';

const KEEP_NOTHING: AuditRetention = { maxAgeMs: 0, maxBytes: 0 };

/** Small segments, so that a state has several. */
const LIMITS = { stepBytes: 1000, segmentBytes: 100, retention: KEEP_NOTHING };

const MAKER = { madeBy: '0.0.0-test', keyId: 'abcdef012345' };

/** Queues are states that reference bodies; all other planes are those of a process. */
export const BODY_PLANES: BackupPlanes = {
  ...BACKUP_PLANES,
  fold: (partition) => (partition.startsWith('queue:') ? new BodyFold() : replayFold()),
};

export class MemoryFiles implements BackupFiles {
  readonly files = new Map<string, Buffer>();

  async write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<FileRef> {
    const read: Uint8Array[] = [];
    for await (const piece of pieces) read.push(new Uint8Array(piece));
    const whole = Buffer.concat(read);
    this.files.set(name, whole);
    return { name, bytes: whole.length, sha256: createHash('sha256').update(whole).digest('hex') };
  }

  /** In pieces so small that records are cut at any place. */
  async read(name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const whole = this.files.get(name);
    if (whole === undefined) return undefined;
    return (async function* () {
      for (let at = 0; at < whole.length; at += 7) yield whole.subarray(at, at + 7);
    })();
  }

  async readAt(name: string, offset: number, bytes: number): Promise<Uint8Array> {
    const whole = this.files.get(name);
    if (whole === undefined) throw new Error(`no file ${name}`);
    return whole.subarray(offset, offset + bytes);
  }

  async list(prefix: string): Promise<readonly string[]> {
    return [...this.files.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  async removeAll(prefix: string): Promise<void> {
    for (const name of this.files.keys()) if (name.startsWith(prefix)) this.files.delete(name);
  }
}

/** A place in memory with a connection that can end. */
export class MemoryPlace implements BackupPlace {
  readonly label = 'memory';
  readonly files = new MemoryFiles();
  /** Files that are still written; later ones fail. */
  failAfter: number | undefined;

  async folders(): Promise<readonly string[]> {
    const names = [...this.files.files.keys()].filter((name) => name.includes('/'));
    return [...new Set(names.map((name) => name.slice(0, name.indexOf('/'))))].sort();
  }

  filesOf(folder: string): BackupFiles {
    const { files } = this;
    const below = folder === '' ? '' : `${folder}/`;
    return {
      write: async (name, pieces) => {
        if (this.failAfter === 0) throw new Error('the connection ended');
        if (this.failAfter !== undefined) this.failAfter -= 1;
        return { ...(await files.write(below + name, pieces)), name };
      },
      read: (name) => files.read(below + name),
      readAt: (name, offset, bytes) => files.readAt(below + name, offset, bytes),
      list: async (prefix) => (await files.list(below + prefix)).map((name) => name.slice(below.length)),
      removeAll: (prefix) => files.removeAll(below + prefix),
    };
  }

  async remove(folder: string): Promise<void> {
    await this.files.removeAll(`${folder}/`);
  }

  isLocked(): Promise<boolean> {
    return Promise.resolve(false);
  }

  close(): void {}
}

export class MemoryInstallation {
  journal: Journal;
  objects: ObjectStore;
  readonly memoryJournal: MemoryJournal;
  readonly memoryObjects = new MemoryObjectStore();
  readonly installation: Installation;
  /** The format level. */
  formatLevel: number = FIRST_FORMAT_LEVEL;

  constructor(
    kvShards: number,
    queueShards: number,
    clusterId = CLUSTER,
    readonly clock: Clock = realTime,
  ) {
    this.memoryJournal = new MemoryJournal({ clock, timers: realTime });
    this.journal = this.memoryJournal;
    this.objects = this.memoryObjects;
    const named = (plane: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${plane}_${i}` as ShardName);
    const intakes = named('INTAKE', queueShards);
    const journals = [...named('QUEUE', queueShards), ...named('KV', kvShards), 'CONTROL' as ShardName];
    const meter = 'METER' as ShardName;
    this.installation = {
      clusterId,
      kvShards,
      queueShards,
      journals,
      intakes,
      meter,
      format: async () => this.formatLevel,
    };
    for (const shard of [...journals, ...intakes, meter]) this.memoryJournal.createStream(shard);
  }

  history(shard: string, chunkBytes?: number): ShardHistory {
    const options = { shard: shard as ShardName };
    return new ShardHistory(this.memoryJournal, chunkBytes === undefined ? options : { ...options, chunkBytes });
  }

  async put(shard: string, bytes: Uint8Array): Promise<void> {
    const { last } = await this.memoryJournal.tail(shard as ShardName);
    await this.memoryJournal.append(shard as ShardName, bytes, last);
  }

  /** A snapshot up to the head of the history, and the front truncated where two snapshots allow it. */
  async compact({ shard, head }: ShardHistory, planes: BackupPlanes = BODY_PLANES): Promise<void> {
    const ports = { journal: this.memoryJournal, objects: this.memoryObjects, clock: this.clock, log: silentLog };
    const job = { shard, clusterId: this.installation.clusterId, upToPosition: head.position };
    const { purgeBelow } = await compactShard(ports, job, (name) => planes.fold(name), LIMITS);
    const { first } = await this.memoryJournal.tail(shard);
    if (purgeBelow > first) await this.memoryJournal.truncateFront(shard, purgeBelow);
  }

  backup(files: BackupFiles): Promise<BackupManifest> {
    const { journal, objects, clock } = this;
    return createBackup({ journal, objects, clock, log: silentLog }, files, this.installation, MAKER);
  }

  async restore(files: BackupFiles, planes: BackupPlanes = BODY_PLANES): Promise<Restored> {
    const { journal, objects, clock, installation } = this;
    const random = { bytes: (count: number) => new Uint8Array(count).fill(7), float: () => 0 };
    const target = { journal, objects, clock, timers: realTime, random, installation };
    const digests: PartitionDigest[] = [];
    const manifest = await readManifest(files);
    await checkFiles(files, manifest);
    await refuseUsedInstallation(target);
    const reader = { files, planes, log: silentLog, release: MAKER.madeBy };
    const shards = await restoreBackup(reader, target, manifest, (digest) => digests.push(digest));
    return { shards, digests: byPartition(digests) };
  }
}

export interface Restored {
  readonly shards: readonly RestoredShard[];
  readonly digests: Readonly<Record<string, string>>;
}

/** @returns the digest of each partition */
export async function verify(
  files: BackupFiles,
  planes: BackupPlanes = BODY_PLANES,
  { release = MAKER.madeBy, log = silentLog }: { release?: string; log?: Log } = {},
): Promise<Readonly<Record<string, string>>> {
  const digests: PartitionDigest[] = [];
  await verifyBackup({ files, planes, log, release }, await readManifest(files), (digest) => digests.push(digest));
  return byPartition(digests);
}

function byPartition(digests: readonly PartitionDigest[]): Readonly<Record<string, string>> {
  return Object.fromEntries(digests.map(({ partition, digest }) => [partition, digest] as const).sort());
}
