/**
 * Asks the owner of the control shard for its last position, for copies with a silent stream. A stream is silent for
 * seconds while its leader or a consumer's server is replaced. Grants cannot change during that time, but only the
 * owner can confirm it.
 *
 *  OW1 the owner confirms under the rules of a read, so no successor has acknowledged a change yet
 *  OW2 a confirmation counts from when it was asked for: later changes may be missing from it
 *  OW3 the owner is not asked while the stream is heard
 */
import { decodeControlApplied, encodeControlApplied } from '../../codec/control/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { Bus, Clock, Subscription, Timer, Timers } from '../../ports/index.js';
import type { ShardActor } from '../runtime/index.js';
import { ControlWork, QUESTION } from './control-work.js';

const NOTHING = new Uint8Array();
/** Time until an unanswered question is repeated. */
const AGAIN_MS = 50;
/**
 * The part of the validity of a sign of life after which the owner is asked. A living stream gives one in each half: with
 * less than that and a delay, every process would ask the owner about once a second, without a fault.
 */
const SILENT_PART = 0.7;

export interface RightsFreshnessPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly timers: Timers;
}

export class RightsFreshness {
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: RightsFreshnessPorts,
    /** A sign of life is valid for this time. */
    private readonly staleMs: number,
    /** Called with the position that the copy must have reached to know all grants in force at `askedAtMs`. */
    private readonly onConfirmed: (position: number, askedAtMs: number) => void,
  ) {}

  /** Called when the copy was known to be current at this instant, from any source. */
  heard(atMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, atMs);
    if (this.#timer === undefined && !this.#isStopped) this.#wait(this.staleMs * SILENT_PART);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(ms: number): void {
    this.#timer = this.ports.timers.after(ms, () => void this.#askIfSilent());
  }

  async #askIfSilent(): Promise<void> {
    const { bus, clock } = this.ports;
    const askedAtMs = clock.monotonicMs();
    const leftMs = this.#heardAtMs + this.staleMs * SILENT_PART - askedAtMs;
    if (leftMs > 0) {
      this.#wait(leftMs);
      return;
    }
    const answer = await bus
      .request({ kind: 'access' }, NOTHING, this.staleMs * (1 - SILENT_PART))
      .catch(() => undefined);
    if (this.#isStopped) return;
    const word = answer && decodeControlApplied(answer);
    if (word !== undefined) this.onConfirmed(word.position, askedAtMs);
    this.#wait(AGAIN_MS);
  }
}

/** Answers questions while the owner's actor lives. @param position  of the last change of grants */
export function confirmRights(
  bus: Bus,
  actor: ShardActor<ControlWork>,
  session: SessionId,
  position: () => number,
): void {
  const serving: Subscription = bus.serve({ kind: 'access' }, async () => {
    if (!actor.holdsLease) await anyRead(actor);
    return encodeControlApplied({ session, position: position() });
  });
  void actor.ended.then(() => serving.stop());
}

/**
 * Executes a read at the actor (OW1). After the lease has expired, such a read waits for an entry, which proves the
 * ownership.
 */
function anyRead(actor: ShardActor<ControlWork>): Promise<unknown> {
  return new Promise((resolve, reject) => actor.submit(new ControlWork(QUESTION, resolve, reject)));
}
