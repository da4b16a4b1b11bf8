/**
 * The turns of an activation and the works that wait for their entries: one entry is in flight, the open turn becomes
 * the next one (SA2), and replies are sent when the entry that they depend on is stored (SA1, SA3).
 */
import type { ChainHead, ChainLink } from '../../journal/index.js';
import { MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { EntryBody } from '../../protocol/index.js';
import type { Activation, ActorPorts } from './activation.js';
import type { CommandMemory } from './command-memory.js';
import type { OwnershipProof } from './ownership-proof.js';
import { type Abandoned, NO_TURN, newPending, outOfTouch, type PendingTurn, watchAppends } from './pending.js';
import type { ShardTime } from './shard-time.js';
import type { ShardWriter } from './shard-writer.js';
import type { ShardPlane, Work } from './work.js';

export interface TurnEntriesParts<W extends Work> {
  readonly ports: Pick<ActorPorts, 'clock' | 'log' | 'metrics'>;
  readonly activation: Activation;
  readonly plane: Pick<ShardPlane<W>, 'seal' | 'committed'>;
  readonly memory: CommandMemory;
  readonly time: ShardTime;
  readonly proof: OwnershipProof;
  /** An entry is stored, and the next one is sent. */
  onStored(): void;
  onFailure(error: unknown): void;
}

export class TurnEntries<W extends Work> {
  readonly #appends: ReturnType<typeof watchAppends>;
  readonly #stop = new AbortController();
  #writer: ShardWriter | undefined;
  #open: PendingTurn<W>;
  #inFlight: PendingTurn<W> | undefined;
  /** Reads that wait for any entry as a proof of ownership. */
  #unproven: W[] = [];
  #afterEntry: (() => Promise<void>)[] = [];
  #lastStoreMs: number | undefined;
  #isUnanswered = false;
  #maySeal = false;
  #isEnded = false;

  constructor(private readonly parts: TurnEntriesParts<W>) {
    this.#appends = watchAppends(parts.ports, parts.activation.shard);
    this.#open = newPending(1);
  }

  /** The last entry that is certainly stored; undefined before the claim is sent. */
  get head(): ChainHead | undefined {
    return this.#writer?.head;
  }

  /** The time from sending the last entry to its acknowledgement; undefined: none in this activation. */
  get lastStoreMs(): number | undefined {
    return this.#lastStoreMs;
  }

  /** True while the append in flight had no answer within its time and is repeated. */
  get isUnanswered(): boolean {
    return this.#isUnanswered;
  }

  get open(): PendingTurn<W> {
    return this.#open;
  }

  /** Reads without a proof of ownership. */
  get unproven(): number {
    return this.#unproven.length;
  }

  /** Works with a reply that waits for the open turn's entry or for a proof of ownership. */
  get waiting(): number {
    return this.#open.waiting.length + this.#unproven.length;
  }

  /** True when no work waits and no effect is to be stored. */
  get isIdle(): boolean {
    const { turn, waiting } = this.#open;
    return this.#unproven.length + waiting.length + turn.effects === 0 && this.#inFlight === undefined;
  }

  /** Stores the claim, after which this activation is the owner. */
  async claim(writer: ShardWriter): Promise<void> {
    const { activation, ports, time, proof } = this.parts;
    this.#writer = writer;
    const sentAtMs = ports.clock.monotonicMs();
    await writer.appendClaim(activation.clusterId, time.nowMs(), this.#watch());
    proof.proven(sentAtMs);
  }

  /** Turns are stored from now on. @param links  the last section of each partition */
  begin(links: Iterable<readonly [PartitionName, ChainLink]>): void {
    this.#pen().adoptLinks(links);
    this.#maySeal = true;
  }

  /** Sends the reply now, or with the entry that it depends on (SA1, SA3). */
  finish(work: W): void {
    const { activation, proof } = this.parts;
    const waitsFor = activation.readsNeedBarrier ? this.#open.turn.number : work.waitsForTurn;
    if (work.trace !== undefined) this.#traceExecuted(work, waitsFor);
    if (waitsFor === this.#open.turn.number) this.#open.waiting.push(work);
    else if (waitsFor === this.#inFlight?.turn.number) this.#inFlight.waiting.push(work);
    else if (proof.mayAnswerReads) work.release(this.#pen().head.position);
    else this.#unproven.push(work);
  }

  #traceExecuted({ trace, hasWritten }: W, waitsFor: number): void {
    const waits = waitsFor === this.#open.turn.number || waitsFor === this.#inFlight?.turn.number;
    trace?.executed(this.#shard, waits ? (hasWritten ? 'for-its-entry' : 'for-an-entry') : undefined);
  }

  releaseRead(work: W): void {
    if (this.parts.proof.mayAnswerReads) work.release(this.#pen().head.position);
    else work.reject(outOfTouch(this.#shard, work));
  }

  /** Rejects the reads that have waited since before this time for a proof of ownership. */
  rejectUnproven(enteredBeforeMs: number): void {
    for (const work of this.#unproven.splice(0)) {
      if (work.enteredAtMs <= enteredBeforeMs) work.reject(outOfTouch(this.#shard, work));
      else this.#unproven.push(work);
    }
  }

  /** Appends a snapshot entry after the one in flight. */
  appendSnapshot(body: Extract<EntryBody, { kind: 'snapshot' }>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#afterEntry.push(async () => {
        try {
          await this.#pen().appendSnapshot(body, this.parts.time.nowMs(), this.#watch());
          resolve();
        } catch (error) {
          reject(error);
          throw error;
        }
      });
      this.seal();
    });
  }

  /** Sends the open turn's entry, unless one is in flight or no work needs it. */
  seal(): void {
    if (this.#inFlight !== undefined || !this.#maySeal) return;
    const pending = this.#open;
    const extra = this.#afterEntry.shift();
    const isWanted = pending.turn.effects > 0 || pending.waiting.length > 0 || this.#unproven.length > 0;
    if (extra === undefined && !isWanted) return;
    if (extra !== undefined) {
      this.#inFlight = newPending(NO_TURN);
      this.#run(async () => {
        await extra();
        this.#inFlight = undefined;
      });
      return;
    }
    this.#open = newPending(pending.turn.number + 1);
    this.#inFlight = pending;
    this.#run(() => this.#store(pending));
  }

  /** Stops appending. @returns the works without a reply */
  end(reason: MillraceError): Pick<Abandoned<W>, 'inFlight' | 'open'> & { readonly unproven: readonly W[] } {
    this.#isEnded = true;
    this.#maySeal = false;
    this.#stop.abort(reason);
    const inFlight = this.#inFlight?.waiting ?? [];
    const open = this.#open.waiting;
    this.#inFlight = undefined;
    this.#open = newPending(NO_TURN);
    return { inFlight, open, unproven: this.#unproven.splice(0) };
  }

  #run(step: () => Promise<void>): void {
    step().then(
      () => {
        this.#isUnanswered = false;
        this.seal();
        this.parts.onStored();
      },
      (error: unknown) => this.parts.onFailure(error),
    );
  }

  async #store(pending: PendingTurn<W>): Promise<void> {
    const { plane, memory, activation, proof } = this.parts;
    const { clock, metrics } = this.parts.ports;
    const { turn } = pending;
    const effects = plane.seal(turn);
    const sentAtMs = clock.monotonicMs();
    const head = await this.#pen().appendBatch(pending.commandIds, effects, turn.nowMs, this.#watch());
    if (this.#isEnded) return;
    proof.proven(sentAtMs);
    this.#isUnanswered = false;
    this.#appends.answered();
    this.#lastStoreMs = clock.monotonicMs() - sentAtMs;
    metrics.entryStored(this.#shard, this.#lastStoreMs, turn.effects, turn.effectBytes);
    activation.onStored(head, turn.effectBytes);
    if (!proof.isPastQuiet) await proof.pastQuiet(() => this.#isEnded);
    if (this.#isEnded) return;
    memory.add(pending.commandIds, head.clockMs);
    plane.committed(head, this.#pen().links);
    this.#inFlight = undefined;
    const proven = this.#unproven.splice(0);
    // The next entry is sent before the replies of this one are written, so that the disk does not wait for them.
    this.seal();
    for (const work of pending.waiting) {
      if (work.hasWritten) work.release(head.position);
      else this.releaseRead(work);
    }
    for (const work of proven) this.releaseRead(work);
  }

  get #shard(): ShardName {
    return this.parts.activation.shard;
  }

  #pen(): ShardWriter {
    if (this.#writer === undefined) throw new MillraceError('DEFECT', `${this.#shard} has not been claimed`);
    return this.#writer;
  }

  #watch() {
    const onUnknown = (cause: unknown) => {
      this.#isUnanswered = true;
      this.#appends.unanswered(cause);
    };
    return { signal: this.#stop.signal, onUnknown };
  }
}
