/**
 * The control actor: one partition on a shard with its own journal. It decides on its state immediately, and answers
 * when the entry with the events is stored.
 *
 *  CP1 an answer is sent after every event that it was judged by is stored
 *  CP2 the answer to a revocation is sent when every live process has applied it, or after a second, because an
 *      earlier answer would say that a token is invalid while it still works. The answer that issues something new
 *      waits in the same way, because its first use may reach any process
 */
import { encodeControlEvent } from '../../codec/control/index.js';
import { type ControlEvent, type ControlState, decide, evolve, rowOfControlEvent } from '../../domain/control/index.js';
import type { ChainHead } from '../../journal/index.js';
import { CONTROL_PARTITION, entrySections, type ManifestPartition } from '../../protocol/index.js';
import type { RecoveryStep, SectionEffects, ShardPlane, Turn } from '../runtime/index.js';
import { ControlFold } from './control-fold.js';
import type { ControlWork } from './control-work.js';

export interface ControlPlanePorts {
  /** Fills an empty fold from a snapshot. */
  loadPartition(partition: ManifestPartition, fold: ControlFold): Promise<void>;
  /** Resolves when every process has applied the change at this position, or has stopped answering. */
  untilInForce(position: number): Promise<void>;
}

export class ControlPlane implements ShardPlane<ControlWork> {
  readonly #fold = new ControlFold();
  #open: Uint8Array[] = [];
  #isInFlight = false;
  #opensAccess = false;
  #storesAccess = false;
  #accessPosition: number | undefined;

  constructor(private readonly ports: ControlPlanePorts) {}

  /** It includes changes that are not stored yet. */
  get state(): ControlState {
    return this.#fold.state;
  }

  /** The position of the last stored change of grants; undefined when there was none since loading. */
  get accessPosition(): number | undefined {
    return this.#accessPosition;
  }

  execute(work: ControlWork, turn: Turn): 'done' {
    const { reply, events } = decide(work.command, this.state, { nowMs: turn.nowMs });
    turn.commands += 1;
    work.reply = reply;
    for (const event of events) {
      const bytes = encodeControlEvent(event);
      // The event's encoded bytes are applied, as in a replay: an event that cannot be encoded is not applied.
      evolve(this.state, event);
      this.#opensAccess ||= rowOfControlEvent(event).leavesAccess !== true;
      this.#open.push(bytes);
      turn.effects += 1;
      turn.effectBytes += bytes.length;
    }
    work.hasWritten = events.length > 0;
    work.waitsForTurn = this.#turnToWaitFor(turn);
    if (isAwaited(events)) work.untilInForce = (position) => this.ports.untilInForce(position);
    return 'done';
  }

  /** There is one state, so any unstored event may have led to the answer (CP1). */
  #turnToWaitFor(turn: Turn): number {
    if (this.#open.length > 0) return turn.number;
    return this.#isInFlight ? turn.number - 1 : 0;
  }

  tick(): void {}

  nextTickInMs(): undefined {
    return undefined;
  }

  seal(): SectionEffects[] {
    if (this.#open.length === 0) return [];
    const pieces = this.#open;
    this.#open = [];
    this.#isInFlight = true;
    this.#storesAccess = this.#opensAccess;
    this.#opensAccess = false;
    return [{ partition: CONTROL_PARTITION, pieces }];
  }

  committed({ position }: ChainHead): void {
    this.#isInFlight = false;
    if (this.#storesAccess) this.#accessPosition = position;
    this.#storesAccess = false;
  }

  takeParked(): ControlWork[] {
    return [];
  }

  abandon(): ControlWork[] {
    return [];
  }

  async restore(steps: AsyncIterable<RecoveryStep>): Promise<void> {
    for await (const step of steps) {
      if (step.kind === 'manifest') {
        const partition = step.manifest?.partitions.find(({ name }) => name === CONTROL_PARTITION);
        if (partition !== undefined) await this.ports.loadPartition(partition, this.#fold);
        continue;
      }
      for (const { entry } of step.reads) {
        for (const { effects } of entrySections(entry)) this.#fold.apply(effects);
      }
    }
  }
}

/** The first start waits for no other process, because they begin to follow after it. */
function isAwaited(events: readonly ControlEvent[]): boolean {
  const isFirst = events.some(({ type }) => type === 'FirstStarted');
  return !isFirst && events.some((event) => rowOfControlEvent(event).isAwaited);
}
