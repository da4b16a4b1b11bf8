/**
 * The word of the owner of the control shard, for copies whose stream is silent. A stream is silent while its leader or the
 * server of a consumer is being replaced, for seconds; nobody's rights can change meanwhile, but only the owner can say so.
 *
 *  OW1 the owner gives its word as it answers a read, so that no successor has acknowledged anything yet
 *  OW2 the word counts from when it was asked for: what changed later may be missing from it
 *  OW3 nobody is asked while the stream is heard
 */
import { decodeControlApplied, encodeControlApplied } from '../../codec/control/index.js';
import type { SessionId } from '../../kernel/index.js';
import type { Bus, Clock, Subscription, Timer, Timers } from '../../ports/index.js';
import type { ShardActor } from '../runtime/index.js';
import { ControlWork, QUESTION } from './control-work.js';

const NOTHING = new Uint8Array();
/** Between two questions, where the first was not answered. */
const AGAIN_MS = 50;

export interface OwnerWordPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly timers: Timers;
}

export class OwnerWord {
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(
    private readonly ports: OwnerWordPorts,
    /** What was heard is worth nothing after this; half of it is left for the question. */
    private readonly staleMs: number,
    /** Up to this position the copy has to be, to know all that was in force at `askedAtMs`. */
    private readonly onWord: (position: number, askedAtMs: number) => void,
  ) {}

  /** The copy was told, by whomever, how things stood at this instant. */
  heard(atMs: number): void {
    this.#heardAtMs = Math.max(this.#heardAtMs, atMs);
    if (this.#timer === undefined && !this.#isStopped) this.#wait(this.staleMs / 2);
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
    const leftMs = this.#heardAtMs + this.staleMs / 2 - askedAtMs;
    if (leftMs > 0) {
      this.#wait(leftMs);
      return;
    }
    const answer = await bus.request({ kind: 'access' }, NOTHING, this.staleMs / 2).catch(() => undefined);
    if (this.#isStopped) return;
    const word = answer && decodeControlApplied(answer);
    if (word !== undefined) this.onWord(word.position, askedAtMs);
    this.#wait(AGAIN_MS);
  }
}

/** Gives the owner's word for as long as its actor lives. @param position of the last change of who may do what */
export function giveWord(bus: Bus, actor: ShardActor<ControlWork>, session: SessionId, position: () => number): void {
  const serving: Subscription = bus.serve({ kind: 'access' }, async () => {
    if (!actor.holdsLease) await anyRead(actor);
    return encodeControlApplied({ session, position: position() });
  });
  void actor.ended.then(() => serving.stop());
}

/** OW1. That it is answered shows whose the shard is, once the lease is over: an entry shows it then. */
function anyRead(actor: ShardActor<ControlWork>): Promise<unknown> {
  return new Promise((resolve, reject) => actor.submit(new ControlWork(QUESTION, resolve, reject)));
}
