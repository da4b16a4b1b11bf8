/**
 * Moves shards away from a process whose work is above its share. Only the owner of the control shard does it; the move
 * is a wish like an operator's, which the processes follow in the small steps of any planned move.
 *
 *  LOB1 a process gives a shard away after it was above its share at every look for the whole period, and one shard at
 *       a time: the next period begins when the shard has moved
 */
import type { SessionId } from '../../kernel/index.js';
import { describeError } from '../../kernel/index.js';
import type { Clock, ClusterWatch, Counter, LeaseStore, Log, Timer, Timers } from '../../ports/index.js';
import { BY_LOAD, bestMove, outdated, overloaded } from './load-placement.js';
import { Steering } from './steering.js';

export interface LoadBalancerPorts {
  readonly cluster: ClusterWatch;
  readonly leases: Pick<LeaseStore, 'get' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly moves: Counter;
  isOwner(): boolean;
}

/** Looks within a period. */
const LOOKS = 6;

export class LoadBalancer {
  readonly #steering: Steering;
  #above: { readonly process: SessionId; readonly sinceMs: number } | undefined;
  #timer: Timer | undefined;

  /** @param periodMs 0 turns it off */
  constructor(
    private readonly ports: LoadBalancerPorts,
    private readonly periodMs: number,
  ) {
    this.#steering = new Steering(ports, BY_LOAD);
  }

  start(): void {
    if (this.periodMs === 0) return;
    this.#timer = this.ports.timers.every(Math.ceil(this.periodMs / LOOKS), () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Never rejects: the next look tries again. */
  async look(): Promise<void> {
    const { cluster, clock, log, isOwner } = this.ports;
    if (!isOwner()) {
      this.#above = undefined;
      return;
    }
    try {
      const status = await cluster.look();
      const moment = { nowMs: clock.nowMs(), periodMs: this.periodMs };
      const process = overloaded(status, moment);
      if (process === undefined || process !== this.#above?.process) {
        this.#above = process === undefined ? undefined : { process, sinceMs: clock.monotonicMs() };
        return;
      }
      if (clock.monotonicMs() - this.#above.sinceMs < this.periodMs) return;
      this.#above = undefined;
      for (const shard of outdated(status)) await this.#steering.move(shard, undefined);
      const move = bestMove(status, process, moment);
      if (move === undefined || !isOwner()) return;
      await this.#steering.move(move.shard, move.to);
      this.ports.moves.add();
      const { load } = status.shards.find(({ shard }) => shard === move.shard) ?? {};
      log.info('placement.by-load', { ...move, load });
    } catch (error) {
      log.warn('placement.by-load-failed', { cause: describeError(error) });
    }
  }
}
