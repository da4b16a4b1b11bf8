/**
 * A look at the whole cluster: every process is asked about itself, NATS about its servers and streams, the lease bucket
 * about what operators wish.
 *
 *  CLK1 nobody is waited for longer than `PROCESS_ANSWER_MS`: who does not answer is shown as silent, with what others know of it
 *  CLK2 however many look, the cluster is asked once in `LOOK_FRESH_MS`
 */
import { decodeProcessReport } from '../../codec/cluster/index.js';
import { decodeSessionRecord, decodeWishes, type Wishes } from '../../codec/leases/index.js';
import { describeError, type SessionId, type ShardName } from '../../kernel/index.js';
import type { ProcessReport } from '../../messages/index.js';
import type {
  Bus,
  Clock,
  ClusterStatus,
  ClusterWatch,
  LeaseStore,
  NatsStanding,
  ProcessStatus,
  ShardStatus,
} from '../../ports/index.js';
import { type Membership, NO_WISHES, sessionKey, WISHES_KEY } from '../runtime/index.js';
import { alarmsOf } from './cluster-alarms.js';
import { LOOK_FRESH_MS, PROCESS_ANSWER_MS } from './cluster-limits.js';

export interface ClusterLookPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly leases: Pick<LeaseStore, 'get' | 'keys'>;
  readonly membership: Membership;
  readonly nats: NatsStanding;
}

interface Known {
  readonly process: SessionId;
  readonly session: SessionId;
}

interface Asked {
  readonly process: SessionId;
  readonly report: ProcessReport | undefined;
  readonly clockAheadMs?: number;
  /** What its session's record says of one that does not answer: it was taken for dead, and what it reads. */
  readonly isGone?: boolean;
  readonly readsFormat?: number | undefined;
}

export class ClusterLook implements ClusterWatch {
  #newest: { readonly atMs: number; readonly status: Promise<ClusterStatus> } | undefined;

  constructor(
    private readonly ports: ClusterLookPorts,
    private readonly cluster: { readonly clusterId: string; readonly shards: readonly ShardName[] },
  ) {}

  /** CLK2. */
  look(): Promise<ClusterStatus> {
    const atMs = this.ports.clock.monotonicMs();
    if (this.#newest === undefined || atMs - this.#newest.atMs >= LOOK_FRESH_MS)
      this.#newest = { atMs, status: this.#look() };
    return this.#newest.status;
  }

  async #look(): Promise<ClusterStatus> {
    const { nats } = this.ports;
    const unknown: string[] = [];
    const known = <T>(what: string, question: Promise<T>, otherwise: T): Promise<T> =>
      question.catch((error: unknown) => {
        unknown.push(`${what} ${CANNOT_BE_ASKED}: ${describeError(error)}`);
        return otherwise;
      });
    const [asked, { drained, moves }, servers, streams, format] = await Promise.all([
      known('leases', this.#processes(), this.#heard()).then((all) => this.#askAll(all)),
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

  /** Those that are heard, and whose sessions the lease bucket has: of the dead, too, until they are swept. */
  async #processes(): Promise<Known[]> {
    const heard = this.#heard();
    const known = new Set(heard.flatMap(({ process, session }) => [process, session]));
    const prefix = sessionKey('' as SessionId);
    const sessions = (await this.ports.leases.keys(prefix)).map((key) => key.slice(prefix.length) as SessionId);
    const others = sessions.filter((session) => !known.has(session));
    return [...heard, ...others.map((session) => ({ process: session, session }))].sort((a, b) =>
      a.process < b.process ? -1 : 1,
    );
  }

  async #askAll(processes: readonly Known[]): Promise<Asked[]> {
    const all = await Promise.all(processes.map((one) => this.#ask(one)));
    return all.filter((one) => one !== undefined);
  }

  /** CLK1. @returns undefined for one that has ended in order */
  async #ask({ process, session }: Known): Promise<Asked | undefined> {
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
        const { isDead: isGone, readsFormat, hasEnded } = decodeSessionRecord(record.value);
        return hasEnded ? undefined : { process, report: undefined, isGone, readsFormat };
      } catch {
        return { process, report: undefined };
      }
    }
  }
}

/** So begins, behind its subject, the alarm that the look is not whole. */
export const CANNOT_BE_ASKED = 'cannot be asked';
const NOTHING = new Uint8Array();
/** What is finer is how long the answer took, and another each time. */
const CLOCK_STEP_MS = 10;

function inSteps(ms: number): number {
  return Math.round(ms / CLOCK_STEP_MS) * CLOCK_STEP_MS || 0;
}

function processStatus({ process, report, clockAheadMs = 0, ...record }: Asked, isDrained: boolean): ProcessStatus {
  if (report === undefined) {
    const state = record.isGone === true ? 'gone' : 'silent';
    const { readsFormat } = record;
    return { process, state, isDrained, ownedShards: 0, ...(readsFormat !== undefined && { readsFormat }) };
  }
  const { nowMs: _, shards, ...said } = report;
  const state = report.checks.every(({ ok }) => ok) ? 'ready' : 'not-ready';
  const ownedShards = shards.filter(({ state: of }) => of === 'serving').length;
  return { ...said, process, state, clockAheadMs, isDrained, ownedShards };
}

/** Whoever has it in the highest epoch owns it: an older one that has not heard of it yet may still say so. */
function shardStatus(
  shard: ShardName,
  asked: readonly Asked[],
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
