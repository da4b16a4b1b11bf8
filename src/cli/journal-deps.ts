/** What `millrace journal` stands on, and what its verbs have in common. */
import type { KeyObject } from 'node:crypto';
import type { AuditPorts, InstallationPorts } from '../journal/index.js';
import type { DatabaseId, PartitionName, ShardName } from '../kernel/index.js';
import type { Clock, Random } from '../ports/index.js';
import type { KvKeyedFold, Replayed, ReplayServer } from '../replay/index.js';

export interface PartitionPlaces {
  readonly partitions: readonly PartitionName[];
  readonly shards: readonly ShardName[];
}

/** What the checkpoint verbs need. */
interface CheckpointDeps {
  readonly clusterId: string;
  /** The private key that checkpoints are signed with; made by the first that asks. */
  signingKey(): Promise<KeyObject>;
  /** The fingerprint of that key, where there is one already. */
  fingerprint(): Promise<string | undefined>;
  /** @throws NOT_FOUND */
  readFile(path: string): Promise<string>;
  /** Whole or not at all. @throws CONFLICT when there is a file of that name */
  writeFile(path: string, text: string): Promise<void>;
}

export interface JournalCommandDeps extends AuditPorts, Omit<InstallationPorts, keyof AuditPorts> {
  readonly clock: Clock;
  readonly random: Random;
  readonly checkpoints: CheckpointDeps;
  /** @throws NOT_FOUND. `shards[i]` holds `partitions[i]`. */
  resolveDatabase(nameOrId: string): Promise<PartitionPlaces>;
  /** Finds the account's queue. @throws NOT_FOUND */
  resolveAccount(id: string): Promise<PartitionPlaces>;
  /** Lets clients ask a replayed database. @throws what listening throws */
  serveReplay(
    database: DatabaseId,
    replayed: Replayed<KvKeyedFold>,
    at: { readonly host: string; readonly port: number },
  ): Promise<ReplayServer>;
  /** Standard output; resolves when there is room for more. */
  write(output: string | Uint8Array): Promise<void> | void;
  /** Shows how far a long verb is, to whoever watches. */
  progress(line: () => string): void;
  /** Standard error: one line. */
  writeError(line: string): void;
  /** Ends `tail` and a replay that is served, and interrupts the others. */
  readonly signal: AbortSignal;
}

/** Where each partition lies, in order of index. */
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

/** Writes a fact as a line of JSON, where that was asked for, else as text. */
export function teller({ write }: Pick<JournalCommandDeps, 'write'>, asJson: boolean) {
  return (fact: unknown, text: string) => write(asJson ? `${JSON.stringify(fact)}\n` : text);
}

export type Tell = ReturnType<typeof teller>;

/** A walk along journals is interrupted with the command, and shows how far it is. */
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
