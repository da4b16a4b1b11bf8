/** The status of a whole cluster for operators: collected on request and not stored. */
import type { SessionId, ShardName } from '../kernel/index.js';
import type { ProcessReport, ShardReport } from '../protocol/index.js';

export interface ProcessStatus extends Partial<Omit<ProcessReport, 'process' | 'nowMs' | 'shards'>> {
  readonly process: SessionId;
  /** `silent`: it did not answer in time. `gone`: it will not answer; others have taken over its shards. */
  readonly state: 'ready' | 'not-ready' | 'silent' | 'gone';
  /** Its clock relative to the caller's; accurate to half of the answer's duration. */
  readonly clockAheadMs?: number;
  /**
   * For a process that does not answer: the age of its last sign of life, by the clock of the servers that store it.
   */
  readonly silentForMs?: number;
  readonly isDrained: boolean;
  readonly ownedShards: number;
}

export interface ShardStatus extends Partial<ShardReport> {
  readonly shard: ShardName;
  /** Undefined during a move. */
  readonly owner: SessionId | undefined;
  /** Messages of its journal that its owner has not reported yet. */
  readonly lag?: number;
  /** The process that an operator wants as its owner. */
  readonly wished?: SessionId;
}

export interface NatsServerReport {
  readonly name: string;
  /**
   * `no-store`: it runs without storing; a full disk causes this, and only a restart ends it. `missing`: it does not
   * answer.
   */
  readonly state: 'well' | 'no-store' | 'missing';
  readonly version?: string;
  readonly hasSyncAlways?: boolean;
  readonly storedBytes?: number;
  readonly storeLimitBytes?: number;
}

export interface StreamReport {
  readonly stream: string;
  readonly bytes: number;
  readonly messages: number;
  readonly lastPosition: number;
  /** Undefined while its replicas elect one. */
  readonly leader: string | undefined;
  /** Replicas that are late or do not answer their leader. */
  readonly lagging: readonly { readonly server: string; readonly behind: number; readonly isOffline: boolean }[];
}

/** The state of the nats-servers. */
export interface NatsStatus {
  /** The level of the stored forms. @throws JOURNAL_UNAVAILABLE */
  format(): Promise<number>;
  servers(): Promise<readonly NatsServerReport[]>;
  /** @throws JOURNAL_UNAVAILABLE */
  streams(): Promise<readonly StreamReport[]>;
}

export interface Wish {
  readonly process: SessionId;
  readonly by: string;
  readonly atMs: number;
}

export interface ClusterStatus {
  readonly clusterId: string;
  /** The level of the stored forms: a program that reads less is not admitted. */
  readonly format?: number;
  /** States that need an operator, one line each. */
  readonly alarms: readonly string[];
  readonly processes: readonly ProcessStatus[];
  readonly shards: readonly ShardStatus[];
  /** Empty without credentials of the system account, or when no server answers. */
  readonly servers: readonly NatsServerReport[];
  readonly streams: readonly StreamReport[];
  readonly drained: readonly Wish[];
  readonly moves: readonly (Wish & { readonly shard: ShardName })[];
}

export interface ClusterWatch {
  /** Waits only briefly for silent processes, and never rejects: missing facts are alarms. */
  look(): Promise<ClusterStatus>;
}

/** Operators' wishes for the placement of shards. Processes follow them later; the call does not wait for that. */
export interface ClusterSteering {
  /**
   * The process should own no shards. @param by the operator. @returns the reason of a refusal, for people. @throws
   * CONFLICT, JOURNAL_UNAVAILABLE
   */
  drain(process: SessionId, by: string): Promise<string | undefined>;
  /** @throws as `drain` */
  undrain(process: SessionId, by: string): Promise<void>;
  /** @param process  undefined: placement decides. @returns, @throws as `drain` */
  move(shard: ShardName, process: SessionId | undefined, by: string): Promise<string | undefined>;
}
