/**
 * The control shard in a process that may own it: its shard, who is waited for when something is revoked, and what the
 * owner does beside answering for as long as its actor serves.
 */

import type { SessionId } from '../../kernel/index.js';
import { CONTROL_SHARD } from '../../messages/index.js';
import type { Bus, Log, MeterLog, Metrics, Timers } from '../../ports/index.js';
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
import { giveWord } from './owner-word.js';
import { Revocations } from './revocations.js';

export interface ControlOwnerPorts {
  readonly bus: Bus;
  readonly timers: Timers;
  readonly log: Log;
  readonly membership: Membership;
  readonly meterLog: MeterLog;
  /** Names this process. */
  readonly process: SessionId;
  readonly metrics: Metrics;
  /** It leads to the owner, where that is another process. */
  readonly caller: ShardCaller;
  own(plane: OwnedPlane<ControlWork, ControlPlane>): OwnedShards<ControlWork, ControlPlane>;
}

/** A process that was silent for this long is not asked whether a revocation has reached it: it refuses to answer. */
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
        // What came before the claim is not looked at one by one: whoever is behind that is behind.
        const claimedAt = actor.head?.position ?? 0;
        const accessPosition = () => plane.accessPosition ?? claimedAt;
        this.#accessPosition = () => (actor.state === 'serving' ? accessPosition() : undefined);
        giveWord(bus, actor, ports.process, accessPosition);
        this.#beginDuties(actor, plane);
      },
    });
    this.client = new ControlGateway(ports.caller, this.#owned.host);
    watchShards(metrics, this.host, [CONTROL_SHARD]);
  }

  get host(): ShardHost<ControlWork> {
    return this.#owned.host;
  }

  /** Does this process own the shard at this moment? */
  get isServing(): boolean {
    return this.host.actorOf(CONTROL_SHARD)?.state === 'serving';
  }

  /** Of the last change of who may do what that it has stored, or of what it began with; undefined while it does not serve. */
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
