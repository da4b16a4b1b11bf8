/** Answers requests to this process: for its status, and reports about its trial runs. */
import { encodeProcessReport } from '../../codec/cluster/index.js';
import { describeError, FORMAT_LEVEL } from '../../kernel/index.js';
import type { Bus, Check, Clock, Subscription } from '../../ports/index.js';
import type { ProcessReport, ShardReport } from '../../protocol/index.js';
import type { ClockWatch, Session, ShardActor, ShardHost, Work } from '../runtime/index.js';

export interface ProcessReporterPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly clocks: Pick<ClockWatch, 'machineAheadMs' | 'isInDoubt'>;
  readonly session: Session;
  /** The checks that `/readyz` answers with. */
  checks(): Readonly<Record<string, Check>>;
  /** The shard hosts of all planes that this process may own shards of. */
  readonly hosts: readonly ShardHost<Work>[];
  readonly trials: { receive(report: Uint8Array): Uint8Array };
}

export type SaidOfItself = Pick<ProcessReporterPorts, 'checks' | 'hosts' | 'trials'>;

/** The facts that stay the same while the process runs. */
export type ReporterIdentity = Pick<ProcessReport, 'version' | 'host' | 'pid' | 'roles' | 'worker'>;

export class ProcessReporter {
  readonly #startedAtMs: number;
  #served: Subscription | undefined;

  constructor(
    private readonly ports: ProcessReporterPorts,
    private readonly facts: ReporterIdentity,
  ) {
    this.#startedAtMs = Math.round(ports.clock.nowMs());
  }

  start(): void {
    const { bus, session, trials } = this.ports;
    const topic = { kind: 'session', session: session.processId } as const;
    this.#served = bus.serve(topic, async (payload) =>
      payload.byteLength === 0 ? encodeProcessReport(this.#report()) : trials.receive(payload),
    );
  }

  stop(): void {
    this.#served?.stop();
  }

  #report(): ProcessReport {
    const { clock, clocks, session, hosts, checks } = this.ports;
    return {
      ...this.facts,
      process: session.processId,
      session: session.id,
      startedAtMs: this.#startedAtMs,
      nowMs: clock.nowMs(),
      machineAheadMs: Math.round(clocks.machineAheadMs),
      isClockInDoubt: clocks.isInDoubt,
      checks: Object.entries(checks()).map(([name, { ok, detail }]) => ({ name, ok, ...(detail && { detail }) })),
      shards: hosts.flatMap((host) => host.actors().map(shardReport)),
      stopped: hosts.flatMap((host) =>
        [...host.stoppedShards()].map(([shard, reason]) => ({ shard, why: describeError(reason) })),
      ),
      readsFormat: FORMAT_LEVEL,
    };
  }
}

function shardReport(actor: ShardActor<Work>): ShardReport {
  const { shard, epoch, state, head, lastStoreMs, snapshotAtMs, replayed } = actor;
  return {
    shard,
    epoch,
    state,
    mailboxCommands: actor.mailboxSize,
    mailboxBytes: actor.mailboxBytes,
    toReplay: replayed.toRead,
    replayed: replayed.entries,
    load: Math.round(actor.load * 10_000) / 10_000,
    ...(head !== undefined && { position: head.position }),
    ...(lastStoreMs !== undefined && { lastStoreMs: Math.round(lastStoreMs * 1000) / 1000 }),
    ...(snapshotAtMs !== undefined && { snapshotAtMs: Math.round(snapshotAtMs) }),
  };
}
