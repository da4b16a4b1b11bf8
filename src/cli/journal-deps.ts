/** The dependencies of `millrace journal`, and functions that its verbs share. */
import type { KeyObject } from 'node:crypto';
import type { AuditPorts, InstallationPorts } from '../journal/index.js';
import type { DatabaseId, PartitionName, ShardName } from '../kernel/index.js';
import type { Clock, Random } from '../ports/index.js';
import type { KvKeyedFold, Replayed, ReplayServer } from '../replay/index.js';

export interface PartitionPlaces {
  readonly partitions: readonly PartitionName[];
  readonly shards: readonly ShardName[];
}

/** Dependencies of checkpoints. */
interface CheckpointDeps {
  readonly clusterId: string;
  /** The private key that signs checkpoints; created by the first call. */
  signingKey(): Promise<KeyObject>;
  /** The fingerprint of an existing key. */
  fingerprint(): Promise<string | undefined>;
  /** @throws NOT_FOUND */
  readFile(path: string): Promise<string>;
  /** Writes the file completely or not at all. @throws CONFLICT if the file exists */
  writeFile(path: string, text: string): Promise<void>;
}

export interface JournalCommandDeps extends AuditPorts, Omit<InstallationPorts, keyof AuditPorts> {
  readonly clock: Clock;
  readonly random: Random;
  readonly checkpoints: CheckpointDeps;
  /** @throws NOT_FOUND. `shards[i]` holds `partitions[i]`. */
  resolveDatabase(nameOrId: string): Promise<PartitionPlaces>;
  /** The account's queue. @throws NOT_FOUND */
  resolveAccount(id: string): Promise<PartitionPlaces>;
  /** Serves a replayed database to clients. @throws errors of listening */
  serveReplay(
    database: DatabaseId,
    replayed: Replayed<KvKeyedFold>,
    at: { readonly host: string; readonly port: number },
  ): Promise<ReplayServer>;
  /** Standard output; resolves when there is room for more. */
  write(output: string | Uint8Array): Promise<void> | void;
  /** Shows the progress of a long verb on a terminal. */
  progress(line: () => string): void;
  /** Standard error: one line. */
  writeError(line: string): void;
  /** Ends `tail` and a served replay, and interrupts other verbs. */
  readonly signal: AbortSignal;
}

/** The shard of each partition, in order of index. */
export interface PlacedPartition {
  readonly partition: PartitionName;
  readonly shard: ShardName;
}

export function placesOf({ partitions, shards }: PartitionPlaces): PlacedPartition[] {
  return partitions.map((partition, i) => ({ partition, shard: shards[i] as ShardName }));
}

export function byShard(places: readonly PlacedPartition[]): Map<ShardName, PartitionName[]> {
  const partitionsByShard = new Map<ShardName, PartitionName[]>();
  for (const { shard, partition } of places) {
    const known = partitionsByShard.get(shard);
    if (known === undefined) partitionsByShard.set(shard, [partition]);
    else known.push(partition);
  }
  return partitionsByShard;
}

/** Writes a fact as a JSON line with `--json`, otherwise as text. */
export function teller({ write }: Pick<JournalCommandDeps, 'write'>, asJson: boolean) {
  return (fact: unknown, text: string) => write(asJson ? `${JSON.stringify(fact)}\n` : text);
}

export type Tell = ReturnType<typeof teller>;

/** Options for reading journals: interruption with the command, and progress. */
export function walkOptions(deps: JournalCommandDeps) {
  return {
    signal: deps.signal,
    onProgress: ({ shard, position, last }: { shard: string; position: number; last: number }) =>
      deps.progress(() => `${shard}: position ${position} of ${last}`),
  };
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
