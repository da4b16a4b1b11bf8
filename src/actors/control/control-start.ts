/**
 * The conditions that a process waits for before it serves: an undamaged control journal, this process's copy of it
 * and, where this process may own the control shard, the first database.
 *
 *  CS1 the process does not serve without the control journal; a damaged journal needs an operator, so a start ends
 *      instead of waiting for it
 *  CS2 damage on a single server is certain immediately; where there are several, a replica may be late, so the
 *      journal is checked only after a while, and then repeatedly
 */
import { type CompletenessPorts, requireComplete, withRemedy } from '../../journal/index.js';
import { isUnreadable, type MillraceError, type ShardName } from '../../kernel/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import type { ControlClient } from './control-client.js';
import type { ControlView } from './control-view.js';
import { QUESTION } from './control-work.js';

export interface ControlStartPorts extends CompletenessPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly client: ControlClient;
  readonly view: Pick<ControlView, 'damage' | 'state'>;
  /** The host of the control shard in this process; undefined where the shard is never owned. */
  readonly host: { stoppedShards(): ReadonlyMap<ShardName, MillraceError> } | undefined;
  /** One server has the journal, without replicas. */
  readonly isAlone: boolean;
}

const PAUSE_MS = 10;
const VIEW_PAUSE_MS = 2;
/** Longer than an election and a reconnect: damage that is still seen then is not a late replica. */
const DAMAGE_LOOK_MS = 15_000;

export class ControlStart {
  /** When the journal is checked next (CS2). */
  #lookAtMs: number;
  #hasAnswered = false;
  #isStopped = false;

  constructor(private readonly ports: ControlStartPorts) {
    this.#lookAtMs = ports.isAlone ? 0 : ports.clock.monotonicMs() + DAMAGE_LOOK_MS;
  }

  /** True once the control actor has answered a request of this process. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Ends the start when the journal is damaged (CS1). @throws JOURNAL_DAMAGED */
  async refuseDamage(): Promise<void> {
    const { host, view, clock } = this.ports;
    const reason = host?.stoppedShards().get(CONTROL_SHARD) ?? view.damage;
    if (reason !== undefined) throw withRemedy(reason);
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + DAMAGE_LOOK_MS;
    await requireComplete(this.ports, CONTROL_SHARD).catch((error: unknown) => {
      if (isUnreadable(error)) throw error;
    });
  }

  /** The pause between two tries of a step that needs the control shard. @throws JOURNAL_DAMAGED */
  async pause(): Promise<void> {
    await this.refuseDamage();
    await this.ports.timers.pause(PAUSE_MS);
  }

  /** @param ready  resolves when the copy is complete. @throws JOURNAL_DAMAGED */
  async untilCopied(ready: Promise<void>): Promise<void> {
    let isReady = false;
    const copied = ready.then(() => {
      isReady = true;
    });
    while (!isReady) {
      await Promise.race([copied, this.ports.timers.pause(PAUSE_MS)]);
      if (!isReady) await this.refuseDamage();
    }
  }

  /** Waits for the copy, which may be later than the answer: a token that was just printed must be valid here. */
  async untilFirstStartIsKnown(): Promise<void> {
    const { view, timers } = this.ports;
    while (view.state.firstStart === undefined) await timers.pause(VIEW_PAUSE_MS);
  }

  async untilAnswered(): Promise<void> {
    while (!this.#hasAnswered && !this.#isStopped) {
      this.#hasAnswered = await this.ports.client.send(QUESTION).then(
        () => true,
        () => false,
      );
      if (!this.#hasAnswered) await this.ports.timers.pause(PAUSE_MS);
    }
  }

  /** Ends all waiting. */
  stop(): void {
    this.#isStopped = true;
  }
}
