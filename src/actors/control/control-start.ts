/**
 * What a process waits for before it serves: a control journal that is whole, this process's copy of it, and, where it
 * may own the control shard, the first database.
 *
 *  CS1 nothing is served without the control journal, and one in doubt stays so until somebody has looked: a start ends
 *      instead of waiting for it
 *  CS2 one server shows at once what a replica may show for a moment only: where there are several, the journal is
 *      looked at after a while, and now and then from then on
 */
import { inDoubt, mustBeWhole, type VouchedPorts } from '../../journal/index.js';
import { isMillraceError, type MillraceError, type ShardName } from '../../kernel/index.js';
import { CONTROL_SHARD } from '../../messages/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import type { ControlClient } from './control-client.js';
import type { ControlView } from './control-view.js';
import { QUESTION } from './control-work.js';

export interface ControlStartPorts extends VouchedPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly client: ControlClient;
  readonly view: Pick<ControlView, 'damage' | 'state'>;
  /** The host of the control shard in this process; undefined where the shard is never owned. */
  readonly host: { stoppedShards(): ReadonlyMap<ShardName, MillraceError> } | undefined;
  /** One server has the journal, and no replica of it. */
  readonly isAlone: boolean;
}

const PAUSE_MS = 10;
const VIEW_PAUSE_MS = 2;
/** Longer than an election and a reconnect: what a journal shows still then is no lagging replica. */
const DAMAGE_LOOK_MS = 15_000;

export class ControlStart {
  /** CS2. */
  #lookAtMs: number;
  #hasAnswered = false;
  #isStopped = false;

  constructor(private readonly ports: ControlStartPorts) {
    this.#lookAtMs = ports.isAlone ? 0 : ports.clock.monotonicMs() + DAMAGE_LOOK_MS;
  }

  /** Has the control actor answered a question of this process yet? */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** CS1. @throws JOURNAL_DAMAGED */
  async refuseDamage(): Promise<void> {
    const { host, view, clock } = this.ports;
    const why = host?.stoppedShards().get(CONTROL_SHARD) ?? view.damage;
    if (why !== undefined) throw inDoubt(why);
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + DAMAGE_LOOK_MS;
    await mustBeWhole(this.ports, CONTROL_SHARD).catch((error: unknown) => {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
    });
  }

  /** Between two tries of whatever needs the control shard. @throws JOURNAL_DAMAGED */
  async pause(): Promise<void> {
    await this.refuseDamage();
    await this.ports.timers.pause(PAUSE_MS);
  }

  /** @param ready of the copy. @throws JOURNAL_DAMAGED */
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

  /** The copy may be a moment behind the answer: a token that was just printed must be known here. */
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

  /** Nobody waits for an answer any longer. */
  stop(): void {
    this.#isStopped = true;
  }
}
