/**
 * The replay of one activation: it rebuilds the plane from the newest snapshot and the later entries, after the claim
 * or, where the present owner is followed, mostly before it.
 */
import type { ReadEntry } from '../../codec/envelope/index.js';
import type { ChainHead } from '../../journal/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { ActorPorts, Grant } from './activation.js';
import type { CommandMemory } from './command-memory.js';
import { Following, type Recovery } from './recovery.js';
import type { ShardTime } from './shard-time.js';
import type { RecoveryStep, ShardPlane, Work } from './work.js';

export class ActivationReplay {
  /**
   * The replay after the newest snapshot: entries read so far, entries to read, and those read after the claim, while
   * requests waited.
   */
  readonly counts = { entries: 0, bytes: 0, toRead: 0, afterClaim: 0 };
  /** When the newest snapshot was made; undefined: there is none, or it is not known yet. */
  snapshotAtMs: number | undefined;
  #coveredNumber = 0;
  #claim: ChainHead | undefined;
  #following: { readonly until: Following; readonly recovered: Promise<Recovery> } | undefined;
  #isCancelled = false;

  constructor(
    private readonly ports: Pick<ActorPorts, 'recover' | 'follow' | 'timers'>,
    private readonly shard: ShardName,
    private readonly plane: Pick<ShardPlane<Work>, 'restore'>,
    private readonly memory: CommandMemory,
    private readonly time: ShardTime,
  ) {}

  /** True when it follows the present owner and few entries are left to replay. */
  get isLevel(): boolean {
    return this.#following?.until.isLevel === true;
  }

  /** Replays the present owner's entries until `run` is called. Rejects with the error of the replay. */
  async follow(onLevel: () => void): Promise<void> {
    const until = new Following(this.ports.timers, onLevel);
    const recovered = this.#restore(this.ports.follow(this.shard, until));
    this.#following = { until, recovered };
    await recovered;
  }

  /** Replays up to the claim, which is stored. */
  run(claim: ChainHead, { highWater }: Pick<Grant, 'highWater'>): Promise<Recovery> {
    this.#claim = claim;
    this.#noteToRead();
    if (this.#following === undefined) return this.#restore(this.ports.recover(this.shard, claim, highWater));
    this.#following.until.claimed({ claim, highWater });
    return this.#following.recovered;
  }

  cancel(reason: MillraceError): void {
    this.#isCancelled = true;
    this.#following?.until.cancel(reason);
  }

  async #restore(recovery: Recovery): Promise<Recovery> {
    await this.plane.restore(this.#remembering(recovery.steps));
    return recovery;
  }

  async *#remembering(steps: AsyncIterable<RecoveryStep>): AsyncIterable<RecoveryStep> {
    for await (const step of steps) {
      if (this.#isCancelled) throw new MillraceError('SHUTTING_DOWN', `${this.shard}: the replay was abandoned`);
      if (step.kind === 'manifest') {
        this.memory.restore(step.recentCommandIds);
        this.snapshotAtMs = step.manifest?.createdAtMs;
        this.#coveredNumber = step.manifest?.head.number ?? 0;
        this.#noteToRead();
      } else {
        for (const read of step.reads) this.#note(read);
      }
      yield step;
    }
  }

  #note({ entry, totalBytes }: ReadEntry): void {
    this.counts.entries += 1;
    this.counts.bytes += totalBytes;
    if (this.#claim !== undefined) this.counts.afterClaim += 1;
    this.time.follow(entry.clockMs);
    if (entry.body.kind === 'batch') this.memory.add(entry.body.commandIds, entry.clockMs);
  }

  #noteToRead(): void {
    this.counts.toRead = Math.max(0, (this.#claim?.number ?? 0) - this.#coveredNumber);
  }
}
