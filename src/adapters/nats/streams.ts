/**
 * The streams of an installation, declared as data. `cluster init` creates exactly these, once, and
 * every start compares the streams of the server with them.
 *
 *  NS1 no message leaves a journal by age, by count or by rollup: only a purge of its front removes messages
 *  NS2 a full stream refuses new messages and never drops old ones
 *  NS3 streams have no `max_bytes`, which would reserve the disk; the watermark of this program refuses earlier
 */
import type { StreamConfig } from '@nats-io/jetstream';
import type { ShardName } from '../../kernel/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../../protocol/index.js';
import type { BucketName, Names } from './subjects.js';

export interface StreamDeclaration {
  /** Name without the prefix; the key in the layout record. */
  readonly key: string;
  readonly config: DeclaredConfig;
}

export type DeclaredConfig = Partial<StreamConfig> & { readonly name: string; readonly subjects: string[] };

export interface DeclaredCounts {
  readonly kvShards: number;
  readonly queueShards: number;
  readonly replicas: number;
}

/**
 * The server's default, declared so that the comparison detects a change. This program sends no
 * de-duplication ids, so the window stays empty.
 */
const DUPLICATE_WINDOW_NS = 120_000_000_000;

/** The shards of each plane, in order. */
export function shardNames({ kvShards, queueShards }: Pick<DeclaredCounts, 'kvShards' | 'queueShards'>): {
  kv: ShardName[];
  queue: ShardName[];
  intake: ShardName[];
} {
  const numbered = (plane: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${plane}_${index}` as ShardName);
  return {
    kv: numbered('KV', kvShards),
    queue: numbered('QUEUE', queueShards),
    intake: numbered('INTAKE', queueShards),
  };
}

/** All streams except the bucket of the layout, which must exist before them. */
export function declareStreams(names: Names, counts: DeclaredCounts): StreamDeclaration[] {
  const { kv, queue, intake } = shardNames(counts);
  const journals = [...kv, ...queue, ...intake, CONTROL_SHARD, METER_SHARD];
  return [
    ...journals.map((shard) => declareJournal(names, shard, counts.replicas)),
    declareBucket(names, 'leases', counts.replicas),
    declareObjectStore(names, counts.replicas),
  ];
}

function declareJournal(names: Names, shard: ShardName, replicas: number): StreamDeclaration {
  const config = {
    ...keptForEver(names.journalStream(shard), [names.journalSubject(shard)], replicas),
    max_msgs_per_subject: -1,
    allow_rollup_hdrs: false,
  };
  return { key: shard, config };
}

export function declareBucket(names: Names, bucket: BucketName, replicas: number): StreamDeclaration {
  const config = {
    ...keptForEver(names.bucketStream(bucket), [names.bucketSubjects(bucket)], replicas),
    max_msgs_per_subject: 1,
    allow_rollup_hdrs: true,
  };
  return { key: bucket, config };
}

export function declareObjectStore(names: Names, replicas: number): StreamDeclaration {
  const { chunks, descriptions } = names.objectSubjects();
  const config = {
    ...keptForEver(names.objectStream(), [chunks, descriptions], replicas),
    max_msgs_per_subject: -1,
    allow_rollup_hdrs: true,
    // A purge removes the pieces of deleted objects, as in every object store of this layout.
    deny_delete: false,
  };
  return { key: 'snapshots', config };
}

function keptForEver(name: string, subjects: string[], replicas: number) {
  return {
    name,
    subjects,
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    discard_new_per_subject: false,
    num_replicas: replicas,
    max_age: 0,
    max_msgs: -1,
    max_bytes: -1,
    max_msg_size: -1,
    max_consumers: -1,
    duplicate_window: DUPLICATE_WINDOW_NS,
    deny_delete: true,
    deny_purge: false,
    // A follower that lags must not answer for the leader.
    allow_direct: false,
    no_ack: false,
  } as const satisfies Partial<StreamConfig> & { name: string };
}

/** Settings that no declaration has and that no stream of an installation may have. */
export function forbiddenSettings(actual: Partial<StreamConfig>): string[] {
  const settings: Array<[string, boolean]> = [
    ['sealed', actual.sealed === true],
    ['mirror', actual.mirror !== undefined],
    ['sources', (actual.sources ?? []).length > 0],
    ['republish', actual.republish !== undefined],
    ['subject_transform', actual.subject_transform !== undefined],
    ['allow_msg_ttl', actual.allow_msg_ttl === true],
    ['allow_msg_counter', actual.allow_msg_counter === true],
    // It silently overrides `sync_interval: always`.
    ['persist_mode', actual.persist_mode !== undefined && String(actual.persist_mode) === 'async'],
  ];
  return settings.filter(([, isSet]) => isSet).map(([name]) => name);
}

/** Names of the declared settings with another value on the server; an absent one has its zero value. */
export function differingSettings(declared: DeclaredConfig, actual: Partial<StreamConfig>): string[] {
  const found = actual as Record<string, unknown>;
  return Object.entries(declared)
    .filter(([name, value]) => !isSame(value, found[name]))
    .map(([name]) => name);
}

function isSame(declared: unknown, actual: unknown): boolean {
  if (Array.isArray(declared)) {
    if (!Array.isArray(actual) || actual.length !== declared.length) return false;
    return [...declared].sort().join(' ') === [...actual].sort().join(' ');
  }
  if (actual === undefined) return declared === false || declared === 0 || declared === '';
  return declared === actual;
}
