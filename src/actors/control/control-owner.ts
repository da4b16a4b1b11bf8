/**
 * The control shard in a process that may own it: the shard itself, the wait for revocations, and the background work
 * while its actor serves.
 */

import type { SessionId } from '../../kernel/index.js';
import type { Bus, Log, MeterLog, Metrics, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import {
  DEFAULT_ANSWER_MEMORY,
  type Membership,
  type OwnedPlane,
  type OwnedShards,
  type ShardActor,
  type ShardCaller,
  type ShardHost,
  watchShards,
} from '../runtime/index.js';
import { ControlDuties } from './control-duties.js';
import { ControlGateway, serveControl } from './control-gateway.js';
import { ControlPlane } from './control-plane.js';
import type { ControlWork } from './control-work.js';
import { Revocations } from './revocations.js';
import { confirmRights } from './rights-freshness.js';

export interface ControlOwnerPorts {
  readonly bus: Bus;
  readonly timers: Timers;
  readonly log: Log;
  readonly membership: Membership;
  readonly meterLog: MeterLog;
  /** The id of this process. */
  readonly process: SessionId;
  readonly metrics: Metrics;
  /** Leads to the owner in another process. */
  readonly caller: ShardCaller;
  own(plane: OwnedPlane<ControlWork, ControlPlane>): OwnedShards<ControlWork, ControlPlane>;
}

/**
 * A process silent for this long is not waited for at a revocation, because its stale copy already refuses to answer.
 */
const EDGE_SILENCE_MS = 2000;

export class ControlOwner {
  readonly client: ControlGateway;
  readonly #revocations: Revocations;
  readonly #owned: OwnedShards<ControlWork, ControlPlane>;
  #accessPosition: () => number | undefined = () => undefined;

  constructor(private readonly ports: ControlOwnerPorts) {
    const { bus, timers, membership, metrics } = ports;
    this.#revocations = new Revocations(bus, timers, () => membership.liveProcesses(EDGE_SILENCE_MS));
    this.#owned = ports.own({
      shards: [CONTROL_SHARD],
      createPlane: ({ loadPartition }) =>
        new ControlPlane({ loadPartition, untilInForce: (position) => this.#revocations.untilInForce(position) }),
      serve: (actor) => serveControl(bus, actor, DEFAULT_ANSWER_MEMORY),
      onServing: (actor, plane) => {
        // Changes before the claim are not examined singly: a process that has not reached the claim counts as behind.
        const claimedAt = actor.head?.position ?? 0;
        const accessPosition = () => plane.accessPosition ?? claimedAt;
        this.#accessPosition = () => (actor.state === 'serving' ? accessPosition() : undefined);
        confirmRights(bus, actor, ports.process, accessPosition);
        this.#beginDuties(actor, plane);
      },
    });
    this.client = new ControlGateway(ports.caller, this.#owned.host);
    watchShards(metrics, this.host, [CONTROL_SHARD]);
  }

  get host(): ShardHost<ControlWork> {
    return this.#owned.host;
  }

  /** True while this process owns the shard and serves it. */
  get isServing(): boolean {
    return this.host.actorOf(CONTROL_SHARD)?.state === 'serving';
  }

  /**
   * The position of the last stored change of grants, or of the claim; undefined while this process does not serve the
   * shard.
   */
  get accessPosition(): number | undefined {
    return this.#accessPosition();
  }

  start(): void {
    this.#revocations.start();
    this.#owned.start();
  }

  async stop(): Promise<void> {
    await this.#owned.stop();
    this.#revocations.stop();
  }

  #beginDuties(actor: ShardActor<ControlWork>, plane: ControlPlane): void {
    const { meterLog, timers, log, membership } = this.ports;
    const duties = new ControlDuties(
      {
        meterLog,
        timers,
        log,
        client: this.client,
        isGone: (process, silenceMs) => membership.processSilentForMs(process) > silenceMs,
      },
      plane,
    );
    duties.start();
    void actor.ended.then(() => duties.stop());
  }
}
