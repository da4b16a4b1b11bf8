/** The whole of a cluster as an operator sees it: gathered when somebody looks, and kept nowhere. */
import type { SessionId, ShardName } from '../kernel/index.js';
import type { ProcessReport, ShardReport } from '../messages/index.js';

export interface ProcessStatus extends Partial<Omit<ProcessReport, 'process' | 'nowMs' | 'shards'>> {
  readonly process: SessionId;
  /** `silent`: it did not answer in time. `gone`: nor will it; others have taken over what it had. */
  readonly state: 'ready' | 'not-ready' | 'silent' | 'gone';
  /** Its time beside that of whoever asked; known no better than half of how long the answer took. */
  readonly clockAheadMs?: number;
  readonly isDrained: boolean;
  readonly ownedShards: number;
}

export interface ShardStatus extends Partial<ShardReport> {
  readonly shard: ShardName;
  /** Nobody, while it is on its way from one to another. */
  readonly owner: SessionId | undefined;
  /** Messages of its journal that its owner has not said that it knows of. */
  readonly lag?: number;
  /** Where an operator wants it. */
  readonly wished?: SessionId;
}

export interface NatsServerStanding {
  readonly name: string;
  /** `no-store`: it runs and stores nothing; a full disk does that, and only a restart ends it. `missing`: it does not answer. */
  readonly state: 'well' | 'no-store' | 'missing';
  readonly version?: string;
  readonly hasSyncAlways?: boolean;
  readonly storedBytes?: number;
  readonly storeLimitBytes?: number;
}

export interface StreamStanding {
  readonly stream: string;
  readonly bytes: number;
  readonly messages: number;
  readonly lastPosition: number;
  /** Nobody, while its replicas elect one. */
  readonly leader: string | undefined;
  /** Replicas that are behind their leader or do not answer it. */
  readonly lagging: readonly { readonly server: string; readonly behind: number; readonly isOffline: boolean }[];
}

/** What NATS says of itself. */
export interface NatsStanding {
  /** The level of the forms in which things may be stored. @throws JOURNAL_UNAVAILABLE */
  format(): Promise<number>;
  servers(): Promise<readonly NatsServerStanding[]>;
  /** @throws JOURNAL_UNAVAILABLE */
  streams(): Promise<readonly StreamStanding[]>;
}

export interface Wish {
  readonly process: SessionId;
  readonly by: string;
  readonly atMs: number;
}

export interface ClusterStatus {
  readonly clusterId: string;
  /** The level of the forms in which things may be stored: no program that reads less is let in. */
  readonly format?: number;
  /** What a person should look at, a line each. */
  readonly alarms: readonly string[];
  readonly processes: readonly ProcessStatus[];
  readonly shards: readonly ShardStatus[];
  /** None where nobody may ask them, without credentials of the system account, or none answers. */
  readonly servers: readonly NatsServerStanding[];
  readonly streams: readonly StreamStanding[];
  readonly drained: readonly Wish[];
  readonly moves: readonly (Wish & { readonly shard: ShardName })[];
}

export interface ClusterWatch {
  /** Never waits long for what does not answer, and never rejects: what is not known is an alarm. */
  look(): Promise<ClusterStatus>;
}

/** What people wish of the placement of shards; processes follow by themselves, which is not waited for. */
export interface ClusterSteering {
  /** It shall own nothing. @param by who wishes it. @returns why it cannot be, for people. @throws CONFLICT, JOURNAL_UNAVAILABLE */
  drain(process: SessionId, by: string): Promise<string | undefined>;
  /** @throws as `drain` */
  undrain(process: SessionId, by: string): Promise<void>;
  /** @param process undefined: wherever it belongs by itself. @returns, @throws as `drain` */
  move(shard: ShardName, process: SessionId | undefined, by: string): Promise<string | undefined>;
}
