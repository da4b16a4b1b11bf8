/**
 * A look at the whole cluster: every process is asked about itself, NATS about its servers and streams, the lease bucket
 * about what operators wish.
 *
 *  CLK1 nobody is waited for longer than `ANSWER_MS`: who does not answer is shown as silent, with what others know of it
 *  CLK2 however many look, the cluster is asked once in `FRESH_MS`
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
  NatsFacts,
  ProcessStatus,
  ShardStatus,
} from '../../ports/index.js';
import { type Membership, NO_WISHES, sessionKey, WISHES_KEY } from '../runtime/index.js';
import { alarmsOf } from './cluster-alarms.js';

export interface ClusterLookPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly leases: Pick<LeaseStore, 'get' | 'keys'>;
  readonly membership: Membership;
  readonly nats: NatsFacts;
}

/** A process that is well answers in milliseconds. */
const ANSWER_MS = 1_000;
const FRESH_MS = 500;

interface Asked {
  readonly process: SessionId;
  readonly report: ProcessReport | undefined;
  readonly clockAheadMs: number;
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
    if (this.#newest === undefined || atMs - this.#newest.atMs >= FRESH_MS)
      this.#newest = { atMs, status: this.#look() };
    return this.#newest.status;
  }

  async #look(): Promise<ClusterStatus> {
    const { nats } = this.ports;
    const unknown: string[] = [];
    const known = <T>(what: string, question: Promise<T>, otherwise: T): Promise<T> =>
      question.catch((error: unknown) => {
        unknown.push(`${what} cannot be asked: ${describeError(error)}`);
        return otherwise;
      });
    const [asked, { drained, moves }, servers, streams] = await Promise.all([
      known('leases', this.#processes(), this.#heard()).then((all) => Promise.all(all.map((one) => this.#ask(one)))),
      known('wishes', this.#wishes(), NO_WISHES),
      nats.servers(),
      known('streams', nats.streams(), []),
    ]);
    const lastPositions = new Map(streams.map(({ stream, lastPosition }) => [stream, lastPosition]));
    const wished = new Map(moves.map(({ shard, process }) => [shard, process]));
    const status = {
      clusterId: this.cluster.clusterId,
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

  #heard(): SessionId[] {
    return this.ports.membership.heard().map(({ process }) => process);
  }

  /** Those that are heard, and those whose session has ended in no order and is not taken for dead yet. */
  async #processes(): Promise<SessionId[]> {
    const { leases, membership } = this.ports;
    const heard = membership.heard();
    const processes = new Set(heard.map(({ process }) => process));
    const known = new Set(heard.map(({ session }) => session));
    const prefix = sessionKey('' as SessionId);
    for (const key of await leases.keys(prefix)) {
      const session = key.slice(prefix.length) as SessionId;
      if (known.has(session) || processes.has(session)) continue;
      const record = await leases.get(key);
      if (record !== undefined && !decodeSessionRecord(record.value).isDead) processes.add(session);
    }
    return [...processes].sort();
  }

  /** CLK1. */
  async #ask(process: SessionId): Promise<Asked> {
    const { bus, clock } = this.ports;
    const fromMs = clock.nowMs();
    try {
      const report = decodeProcessReport(await bus.request({ kind: 'session', session: process }, NOTHING, ANSWER_MS));
      return { process, report, clockAheadMs: Math.round(report.nowMs - (fromMs + clock.nowMs()) / 2) };
    } catch {
      return { process, report: undefined, clockAheadMs: 0 };
    }
  }
}

const NOTHING = new Uint8Array();

function processStatus({ process, report, clockAheadMs }: Asked, isDrained: boolean): ProcessStatus {
  if (report === undefined) return { process, state: 'silent', isDrained, ownedShards: 0 };
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
