/** The job that copies the installation continuously, in its process. */
import { openPlace, type PlaceOptions } from '../adapters/backups/index.js';
import { type ClusterLayout, formatOf, Names, type NatsConnections, shardNames } from '../adapters/nats/index.js';
import { NodeRandom, sealedForReading, sealedForWriting } from '../adapters/node/index.js';
import {
  type BackupMaker,
  ContinuousCopy,
  type CopyNews,
  type CopyParts,
  type CopyTimes,
  type Installation,
} from '../journal/backup/index.js';
import { requireComplete } from '../journal/index.js';
import type { LeaseStore, Timers } from '../ports/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../protocol/index.js';

export interface CopyJob {
  readonly place: PlaceOptions;
  readonly installation: Omit<Installation, 'format'>;
  readonly maker: BackupMaker;
  readonly times: CopyTimes;
  /** The operator's key, if the installation is encrypted. */
  readonly key: string | undefined;
}

/** The parts of the installation, in the order in which they are copied. */
export function copiedParts(layout: ClusterLayout): Omit<Installation, 'format'> {
  const { kv, queue, intake } = shardNames(layout);
  const { clusterId, kvShards, queueShards } = layout;
  // Databases end before queues: a message that a database has sent is then in the backup of its queue.
  const journals = [...kv, ...queue, CONTROL_SHARD];
  return { clusterId, kvShards, queueShards, journals, intakes: intake, meter: METER_SHARD };
}

type Source = CopyParts['source'] & { readonly timers: Timers; readonly leases: LeaseStore };

/** Never resolves: the process is ended from outside, and a round that is under way is then no round. */
export async function copyInstallation(
  { place: options, installation, maker, times, key }: CopyJob,
  source: Source,
  nats: { readonly connections: NatsConnections; readonly prefix: string },
  tell: (news: CopyNews) => void,
): Promise<undefined> {
  const random = new NodeRandom();
  const names = new Names(nats.prefix);
  const parts: CopyParts = {
    source,
    maker,
    random,
    timers: source.timers,
    place: await openPlace(options),
    installation: { ...installation, format: () => formatOf(nats.connections, names) },
    seal: (files) => sealedForWriting(files, key, random),
    open: (files) => sealedForReading(files, key, random),
    check: async () => {
      for (const shard of installation.journals) await requireComplete(source, shard);
    },
  };
  await new ContinuousCopy(parts, times, tell).run(new AbortController().signal);
}
