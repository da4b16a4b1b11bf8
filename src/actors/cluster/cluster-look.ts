/**
 * The status of the whole cluster: each process reports on itself, NATS on its servers and streams, and the lease
 * bucket holds the wishes of operators.
 *
 *  CLK1 no process is waited for longer than `PROCESS_ANSWER_MS`; one that does not answer is shown as silent, with
 *       the facts that others know about it
 *  CLK2 the cluster is asked once in `LOOK_FRESH_MS`, for any number of readers
 */
import { decodeProcessReport } from '../../codec/cluster/index.js';
import { decodeSessionRecord, decodeWishes, levelReadBy, type Wishes } from '../../codec/leases/index.js';
import { describeError, type SessionId, type ShardName } from '../../kernel/index.js';
import type {
  Bus,
  Clock,
  ClusterStatus,
  ClusterWatch,
  LeaseStore,
  NatsStatus,
  ProcessStatus,
  ShardStatus,
} from '../../ports/index.js';
import type { ProcessReport } from '../../protocol/index.js';
import { type Membership, NO_WISHES, sessionKey, WISHES_KEY } from '../runtime/index.js';
import { alarmsOf } from './cluster-alarms.js';
import { LOOK_FRESH_MS, PROCESS_ANSWER_MS } from './cluster-limits.js';

export interface ClusterLookPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly leases: Pick<LeaseStore, 'get' | 'keys'>;
  readonly membership: Membership;
  readonly nats: NatsStatus;
}

interface Known {
  readonly process: SessionId;
  readonly session: SessionId;
}

interface ProcessAnswer {
  readonly process: SessionId;
  readonly report: ProcessReport | undefined;
  readonly clockAheadMs?: number;
  /** From the session record of a process that does not answer: it was marked dead; the format that it reads. */
  readonly isGone?: boolean;
  readonly readsFormat?: number | undefined;
  /** When its session was last renewed. */
  readonly aliveAtMs?: number;
}

interface Sessions {
  readonly known: readonly Known[];
  /** When the newest record was stored. A living process renews its own about once a second. */
  readonly newestAtMs: number;
}

export class ClusterLook implements ClusterWatch {
  #newest: { readonly atMs: number; readonly status: Promise<ClusterStatus> } | undefined;

  constructor(
    private readonly ports: ClusterLookPorts,
    private readonly cluster: { readonly clusterId: string; readonly shards: readonly ShardName[] },
  ) {}

  /** The status, shared for a short time (CLK2: the cluster is asked once in `LOOK_FRESH_MS`). */
  look(): Promise<ClusterStatus> {
    const atMs = this.ports.clock.monotonicMs();
    if (this.#newest === undefined || atMs - this.#newest.atMs >= LOOK_FRESH_MS)
      this.#newest = { atMs, status: this.#look() };
    return this.#newest.status;
  }

  async #look(): Promise<ClusterStatus> {
    const { nats } = this.ports;
    const unknown: string[] = [];
    const known = <T>(subject: string, question: Promise<T>, otherwise: T): Promise<T> =>
      question.catch((error: unknown) => {
        unknown.push(`${subject} ${CANNOT_BE_ASKED}: ${describeError(error)}`);
        return otherwise;
      });
    const [{ asked, newestAtMs }, { drained, moves }, servers, streams, format] = await Promise.all([
      known('leases', this.#sessions(), { known: this.#heard(), newestAtMs: 0 }).then((all) => this.#askAll(all)),
      known('wishes', this.#wishes(), NO_WISHES),
      nats.servers(),
      known('streams', nats.streams(), []),
      known('formats', nats.format(), undefined),
    ]);
    const lastPositions = new Map(streams.map(({ stream, lastPosition }) => [stream, lastPosition]));
    const wished = new Map(moves.map(({ shard, process }) => [shard, process]));
    const status = {
      clusterId: this.cluster.clusterId,
      ...(format !== undefined && { format }),
      processes: asked.map((one) =>
        processStatus(
          one,
          newestAtMs,
          drained.some(({ process }) => process === one.process),
        ),
      ),
      shards: this.cluster.shards.map((shard) =>
        shardStatus(shard, asked, lastPositions.get(shard), wished.get(shard)),
      ),
      servers,
      streams,
      drained,
      moves,
    };
    return { ...status, alarms: [...unknown, ...alarmsOf(status)] };
  }

  async #wishes(): Promise<Wishes> {
    const record = await this.ports.leases.get(WISHES_KEY);
    return record === undefined ? NO_WISHES : decodeWishes(record.value);
  }

  #heard(): Known[] {
    return this.ports.membership.heard();
  }

  /**
   * Processes whose heartbeat is heard, and sessions in the lease bucket. A dead session stays listed until it is
   * removed.
   */
  async #sessions(): Promise<Sessions> {
    const heard = this.#heard();
    const known = new Set(heard.flatMap(({ process, session }) => [process, session]));
    const prefix = sessionKey('' as SessionId);
    const { leases } = this.ports;
    const keys = await leases.keys(prefix);
    const records = await Promise.all(keys.map((key) => leases.get(key)));
    const sessions = keys.map((key) => key.slice(prefix.length) as SessionId);
    const others = sessions.filter((session) => !known.has(session));
    return {
      known: [...heard, ...others.map((session) => ({ process: session, session }))].sort((a, b) =>
        a.process < b.process ? -1 : 1,
      ),
      newestAtMs: Math.max(0, ...records.map((record) => record?.storedAtMs ?? 0)),
    };
  }

  async #askAll({
    known,
    newestAtMs,
  }: Sessions): Promise<{ readonly asked: readonly ProcessAnswer[]; newestAtMs: number }> {
    const all = await Promise.all(known.map((one) => this.#ask(one)));
    return { asked: all.filter((one) => one !== undefined), newestAtMs };
  }

  /** Waits at most `PROCESS_ANSWER_MS` (CLK1). @returns undefined for a process that is known to have ended */
  async #ask({ process, session }: Known): Promise<ProcessAnswer | undefined> {
    const { bus, clock, leases } = this.ports;
    const fromMs = clock.nowMs();
    try {
      const report = decodeProcessReport(
        await bus.request({ kind: 'session', session: process }, NOTHING, PROCESS_ANSWER_MS),
      );
      return { process, report, clockAheadMs: inSteps(report.nowMs - (fromMs + clock.nowMs()) / 2) };
    } catch {
      try {
        const record = await leases.get(sessionKey(session));
        if (record === undefined) return undefined;
        const found = decodeSessionRecord(record.value);
        if (found.hasEnded || found.isGone) return undefined;
        const { isDead: isGone, aliveAtMs = record.storedAtMs } = found;
        return { process, report: undefined, isGone, readsFormat: levelReadBy(found), aliveAtMs };
      } catch {
        return { process, report: undefined };
      }
    }
  }
}

/** The words, after the subject, of the alarm that the status is incomplete. */
export const CANNOT_BE_ASKED = 'cannot be asked';
const NOTHING = new Uint8Array();
/** A smaller difference is the variable time of the answer, and would change at each look. */
const CLOCK_STEP_MS = 10;

function inSteps(ms: number): number {
  return Math.round(ms / CLOCK_STEP_MS) * CLOCK_STEP_MS || 0;
}

function processStatus(
  { process, report, clockAheadMs = 0, ...record }: ProcessAnswer,
  newestAtMs: number,
  isDrained: boolean,
): ProcessStatus {
  if (report === undefined) {
    const state = record.isGone === true ? 'gone' : 'silent';
    const { readsFormat, aliveAtMs } = record;
    return {
      process,
      state,
      isDrained,
      ownedShards: 0,
      ...(readsFormat !== undefined && { readsFormat }),
      ...(aliveAtMs !== undefined && { silentForMs: Math.max(0, newestAtMs - aliveAtMs) }),
    };
  }
  const { nowMs: _, shards, ...said } = report;
  const state = report.checks.every(({ ok }) => ok) ? 'ready' : 'not-ready';
  const ownedShards = shards.filter(({ state: of }) => of === 'serving').length;
  return { ...said, process, state, clockAheadMs, isDrained, ownedShards };
}

/** The process with the highest epoch owns the shard: an older owner may not know yet that it was replaced. */
function shardStatus(
  shard: ShardName,
  asked: readonly ProcessAnswer[],
  lastPosition: number | undefined,
  wished: SessionId | undefined,
): ShardStatus {
  const [newest] = asked
    .flatMap(({ process: owner, report }) => {
      const found = report?.shards.find((one) => one.shard === shard);
      return found === undefined ? [] : [{ owner, ...found }];
    })
    .sort((a, b) => b.epoch - a.epoch);
  const { position } = newest ?? {};
  const lag = lastPosition === undefined || position === undefined ? undefined : Math.max(0, lastPosition - position);
  return {
    ...(newest ?? { shard, owner: undefined }),
    ...(lag !== undefined && { lag }),
    ...(wished !== undefined && { wished }),
  };
}
