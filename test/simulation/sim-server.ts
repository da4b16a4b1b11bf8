/**
 * The state that all simulated processes share: streams, records and objects, and the faults of a real server:
 * elections without answers, lagging replicas, lost ends of streams.
 *
 *  SIV1 a stream stores a message at the next position or not at all; a stored position never changes, except after
 *       an ordered rollback, which loses the end as an unsynced disk does
 *  SIV2 while a group (a shard, the buckets) has no leader, no message is stored in it
 */
import type { ShardName } from '../../src/kernel/index.js';
import type { AppendOutcome, LeaseRecord, StoredMessage } from '../../src/ports/index.js';
import type { Faults } from './faults.js';
import type { Scheduler } from './scheduler.js';
import type { SeededRandom } from './seeded-random.js';
import { EPOCH_MS } from './sim-process.js';

export interface SimStream {
  readonly createdAt: string;
  first: number;
  readonly messages: { readonly message: StoredMessage; readonly storedMs: number }[];
  /** All messages that were ever stored, also truncated ones, for the checks at the end. */
  readonly archive: StoredMessage[];
  readonly followers: Set<() => void>;
}

/** The time without a leader after the loss of one. */
const ELECTION_MS = { low: 4000, high: 9000 };

/** The number of old versions of a record that a lagging replica may show: some seconds of renewals. */
const VERSIONS_KEPT = 8;

export class SimServer {
  readonly streams = new Map<ShardName, SimStream>();
  private readonly versionsByKey = new Map<string, { storedMs: number; record: LeaseRecord | undefined }[]>();
  readonly objects = new Map<string, Uint8Array>();
  private lastRevision = 0;
  private readonly leaderlessUntilMs = new Map<string, number>();

  constructor(
    private readonly scheduler: Scheduler,
    readonly random: SeededRandom,
    readonly faults: () => Faults,
  ) {}

  createStream(shard: ShardName): void {
    const createdAt = new Date(EPOCH_MS + this.scheduler.nowMs).toISOString();
    this.streams.set(shard, { createdAt, first: 1, messages: [], archive: [], followers: new Set() });
  }

  /** Removes the leader of `group`; a new one is elected some seconds later. */
  loseLeader(group: string): void {
    const untilMs = this.scheduler.nowMs + this.random.between(ELECTION_MS.low, ELECTION_MS.high);
    this.scheduler.trace.note('server', `${group} has no leader until ${untilMs.toFixed(0)}`);
    this.leaderlessUntilMs.set(group, untilMs);
  }

  hasLeader(group: string): boolean {
    return (this.leaderlessUntilMs.get(group) ?? 0) <= this.scheduler.nowMs;
  }

  /**
   * Handles a request that needs the leader of `group`. Without a leader the request is dropped, kept by a server
   * that becomes the leader, or refused because no server listens: `onRefused`.
   */
  withLeader(group: string, action: () => void, onRefused: () => void): void {
    if (this.hasLeader(group)) {
      action();
      return;
    }
    const fate = this.random.below(4);
    if (fate === 0) onRefused();
    if (fate === 1) {
      const afterMs = (this.leaderlessUntilMs.get(group) as number) + this.random.between(0, 50);
      this.scheduler.at(afterMs, undefined, 'message', `kept request for ${group}`, () =>
        this.withLeader(group, action, onRefused),
      );
    }
  }

  append(shard: ShardName, bytes: Uint8Array, expectedLast: number): AppendOutcome {
    const stream = this.streams.get(shard);
    if (stream === undefined) return { kind: 'rejected', reason: 'no responders', retryable: true };
    const last = lastOf(stream);
    if (last !== expectedLast) {
      return { kind: 'conflict', last: this.random.chance(this.faults().conflictWithoutNumber) ? undefined : last };
    }
    const message = { position: last + 1, bytes, storedAtMs: Math.floor(EPOCH_MS + this.scheduler.nowMs) };
    stream.archive.push(message);
    stream.messages.push({ message, storedMs: this.scheduler.nowMs });
    for (const wake of [...stream.followers]) wake();
    return { kind: 'stored', position: last + 1 };
  }

  /** The last position in the view of the answering server: the current one or an older one of a replica. */
  shownLast(stream: SimStream): number {
    const beforeMs = this.viewMs();
    let shown = stream.messages.length;
    while (shown > 0 && (stream.messages[shown - 1]?.storedMs ?? 0) > beforeMs) shown -= 1;
    return stream.first + shown - 1;
  }

  record(key: string): LeaseRecord | undefined {
    return this.versionsByKey.get(key)?.at(-1)?.record;
  }

  /** The record in the view of the answering server, which may be any replica. */
  recordSchema(key: string): LeaseRecord | undefined {
    const versions = this.versionsByKey.get(key) ?? [];
    const beforeMs = this.viewMs();
    return versions.findLast(({ storedMs }) => storedMs <= beforeMs)?.record;
  }

  keys(prefix: string): string[] {
    return [...this.versionsByKey.keys()]
      .filter((key) => key.startsWith(prefix) && this.record(key) !== undefined)
      .sort();
  }

  putRecord(key: string, value: Uint8Array): number {
    this.lastRevision += 1;
    this.addVersion(key, { value, revision: this.lastRevision, storedAtMs: EPOCH_MS + this.scheduler.nowMs });
    return this.lastRevision;
  }

  deleteRecord(key: string): void {
    if (this.record(key) !== undefined) this.addVersion(key, undefined);
  }

  /** The time of the answering server's view: the present, or earlier for a lagging replica. */
  private viewMs(): number {
    const { staleRead, lagMs } = this.faults();
    return this.random.chance(staleRead) ? this.scheduler.nowMs - this.random.between(0, lagMs) : this.scheduler.nowMs;
  }

  private addVersion(key: string, record: LeaseRecord | undefined): void {
    const versions = this.versionsByKey.get(key) ?? [];
    versions.push({ storedMs: this.scheduler.nowMs, record });
    this.versionsByKey.set(key, versions.slice(-VERSIONS_KEPT));
  }

  /** Removes the last `count` messages, acknowledged or not, as an unsynced disk does in a power failure. */
  loseTail(shard: ShardName, count: number): void {
    const stream = this.streams.get(shard);
    const lost = stream?.messages.splice(Math.max(0, stream.messages.length - count), count) ?? [];
    stream?.archive.splice(stream.archive.length - lost.length, lost.length);
    this.scheduler.trace.note('server', `${shard} lost its last ${lost.length} messages`);
  }
}

export function lastOf(stream: SimStream): number {
  return stream.first + stream.messages.length - 1;
}
