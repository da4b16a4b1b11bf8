/**
 * What a partition may hold: `maxmemory`, which is a parameter of the database; what its plan allows, and what its
 * process has room for, which its owner is told and which are no part of the data. Any one reached is a bound reached.
 */
import type { ByteString, Random } from '../../kernel/index.js';
import { chooseAnyVictim, chooseVictim, storedBytes } from './eviction.js';
import { KEY_OVERHEAD_BYTES, type Keyspace } from './keyspace.js';
import type { Settings } from './settings.js';

export interface PlanLimit {
  /** Compared with `storedBytes`. */
  readonly maxBytes: number;
  /** Room is made with whatever key, if the database has no policy of its own. */
  readonly isEvicting: boolean;
}

export class MemoryBounds {
  plan: PlanLimit | undefined;
  /** What the process that holds it has room for, compared with `storedBytes`; undefined in a fold that replays. */
  processMaxBytes: number | undefined;
  /** The part of `storedBytes` that the process has counted. */
  countedBytes = 0;

  constructor(
    private readonly keyspace: Keyspace,
    private readonly settings: Settings,
    private readonly random: Random,
  ) {}

  /** Is any bound set? */
  get areSet(): boolean {
    return this.settings.maxMemoryBytes > 0 || this.plan !== undefined || this.processMaxBytes !== undefined;
  }

  get areReached(): boolean {
    if (!this.areSet) return false;
    const bytes = storedBytes(this.keyspace);
    return this.#isMemoryReachedBy(bytes) || this.#isPlanReachedBy(bytes) || this.#isProcessReachedBy(bytes);
  }

  /** Where not even a key without a name or a value fits, it is reached before there is one. */
  #isMemoryReachedBy(bytes: number): boolean {
    const { maxMemoryBytes } = this.settings;
    if (maxMemoryBytes === 0) return false;
    return maxMemoryBytes < KEY_OVERHEAD_BYTES || bytes > maxMemoryBytes;
  }

  get isPlanReached(): boolean {
    return this.#isPlanReachedBy(storedBytes(this.keyspace));
  }

  #isPlanReachedBy(bytes: number): boolean {
    return this.plan !== undefined && bytes > this.plan.maxBytes;
  }

  #isProcessReachedBy(bytes: number): boolean {
    return this.processMaxBytes !== undefined && bytes > this.processMaxBytes;
  }

  /** The least of all, as `maxmemory` is shown to clients; 0: there is none. */
  get shownBytes(): number {
    const all = [this.settings.maxMemoryBytes || undefined, this.plan?.maxBytes, this.processMaxBytes];
    const given = all.filter((bytes) => bytes !== undefined);
    return given.length === 0 ? 0 : Math.max(0, Math.min(...given));
  }

  /** A bound is reached, and no eviction would make room. */
  get leaveNoRoom(): boolean {
    if (!this.areReached || this.#policy !== 'noeviction') return false;
    return this.#isMemoryReachedBy(storedBytes(this.keyspace)) || this.plan?.isEvicting !== true;
  }

  /** The next key to remove; undefined when none may be. */
  nextVictim(): ByteString | undefined {
    const { keyspace, settings, random, plan } = this;
    const samples = settings.number('maxmemory-samples');
    const chosen = chooseVictim(keyspace, { policy: this.#policy, samples }, random);
    if (chosen !== undefined || plan?.isEvicting !== true) return chosen;
    const bytes = storedBytes(keyspace);
    if (!this.#isPlanReachedBy(bytes) && !this.#isProcessReachedBy(bytes)) return chosen;
    return chooseAnyVictim(keyspace, random);
  }

  get #policy(): ByteString {
    return this.settings.get('maxmemory-policy') ?? '';
  }
}
