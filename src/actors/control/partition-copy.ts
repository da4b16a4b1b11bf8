/**
 * Copies the keys of a database from the partitions of one layout to those of another, while clients use the old ones.
 * The owners execute the steps (actors/kv-shard/partition-transfer.ts).
 *
 *  PCO1 every key is read once by a scan, and again after each change; in the end the old partitions are closed and the
 *       last changes are copied, so the new ones have every acknowledged write
 *  PCO2 the digest of the keys of each step is compared with that of the new partition, and at the end the number of all
 *       keys
 *  PCO3 clients wait from the closing to the switch, at most `MAX_PAUSE_MS`; otherwise the copy fails and the old
 *       partitions are opened again
 *  PCO4 one step is under way at a time while clients are served, and the copy rests as long as its steps take
 *  PCO5 the full-text indexes are built in the new partitions before the old ones are closed, unless that takes longer
 *       than MAX_INDEXING_MS
 */
import { encodeCommand } from '../../codec/resp/index.js';
import { ALIAS_EFFECT, hashSlot, partitionOfSlot, type Reply } from '../../domain/kv/index.js';
import {
  type ByteString,
  type DatabaseId,
  isMillraceError,
  MillraceError,
  type PartitionName,
} from '../../kernel/index.js';
import type { Clock, KvGateway, Timers } from '../../ports/index.js';

export interface PartitionCopyPorts {
  readonly gateway: KvGateway;
  readonly clock: Clock;
  readonly timers: Timers;
}

export interface CopyOrder {
  readonly database: DatabaseId;
  readonly attempt: number;
  readonly from: readonly PartitionName[];
  readonly to: readonly PartitionName[];
  /** Called with the copied share of the keys, 0 to 100. */
  onProgress(percent: number): Promise<void>;
  /** Called when the old partitions are closed and the new ones have all keys and are still closed. */
  onFilled(): Promise<void>;
  /** False: the copy was cancelled, or this process does not make it any more. */
  isWanted(): boolean;
}

/** Half of the time that requests wait for a closed partition (edge/commands/layout-changes.ts). */
export const MAX_PAUSE_MS = 5_000;
/** The old partitions are closed when a round has copied so few keys, or after so many rounds. */
const FEW_KEYS = 256;
const MAX_ROUNDS = 30;
/** A step is sent again for so long while its owner changes. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 50;
/** The time for the indexes of the new partitions; then clients wait for them, as after a start. */
const MAX_INDEXING_MS = 600_000;
const INDEXING_LOOK_MS = 50;
/** The longest rest after a step. */
const MAX_REST_MS = 100;

/** The answer to `head`. Earlier releases have aliases among the effects. */
type Head = readonly [
  size: number,
  effects: ByteString,
  aliases?: readonly (readonly [alias: ByteString, index: ByteString])[],
  indexes?: readonly (readonly [name: ByteString, text: ByteString])[],
];
type Group = readonly [index: number, keys: readonly ByteString[], pieces: readonly ByteString[], digest: string];

export class PartitionCopy {
  #number = 0;
  /** From the closing on; all steps have to end before it. */
  #endMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly ports: PartitionCopyPorts,
    private readonly order: CopyOrder,
  ) {}

  /**
   * Afterwards the old partitions are closed, and the new ones are open and have all keys.
   * @throws CONFLICT, TIMED_OUT and retryable errors: another attempt may succeed; others: it cannot
   */
  async run(): Promise<void> {
    const { from, to } = this.order;
    await Promise.all(to.map((partition) => this.#step(partition, 'empty')));
    for (const partition of from) await this.#step(partition, 'begin');
    await this.#scan();
    await this.#buildIndexes();
    await this.#followChanges();
    await this.#finish();
  }

  /** Opens the old partitions after a failure. @throws as `run` */
  async reopen(): Promise<void> {
    this.#endMs = Number.POSITIVE_INFINITY;
    await Promise.all(this.order.from.map((partition) => this.#step(partition, 'open')));
  }

  async #scan(): Promise<void> {
    const { from, to, onProgress } = this.order;
    const total = await this.#sizeOf(from);
    let copied = 0;
    for (const partition of from) {
      let cursor = '0';
      do {
        const startedAtMs = this.ports.clock.monotonicMs();
        const [next, groups] = (await this.#step(partition, 'scan', cursor, String(to.length))) as [string, Group[]];
        await this.#fill(groups);
        cursor = next;
        copied += keysOf(groups);
        await onProgress(Math.min(99, Math.floor((100 * copied) / Math.max(1, total))));
        await this.#rest(startedAtMs);
      } while (cursor !== '0');
    }
  }

  /** Each new partition makes its part of each index (PCO5). */
  async #buildIndexes(): Promise<void> {
    const { from, to } = this.order;
    const words = (await this.#headsOf(from)).flatMap(([, , , indexes = []]) => indexes.flat());
    if (words.length === 0) return;
    const { clock, timers } = this.ports;
    const untilMs = clock.monotonicMs() + MAX_INDEXING_MS;
    for (;;) {
      const unbuilt = await Promise.all(to.map((partition) => this.#step(partition, 'index', ...words)));
      if (unbuilt.every((count) => count === 0) || clock.monotonicMs() > untilMs) return;
      await timers.pause(INDEXING_LOOK_MS);
    }
  }

  /** Copies changed keys until few are left (PCO1). */
  async #followChanges(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      let keys = 0;
      for (const partition of this.order.from) keys += await this.#copyChanges(partition, true);
      if (keys <= FEW_KEYS) return;
    }
  }

  /** @returns the number of copied keys */
  async #copyChanges(partition: PartitionName, isResting: boolean): Promise<number> {
    const count = String(this.order.to.length);
    let copied = 0;
    for (;;) {
      const startedAtMs = this.ports.clock.monotonicMs();
      this.#number += 1;
      const number = String(this.#number);
      const [left, groups] = (await this.#step(partition, 'changed', number, count)) as [number, Group[]];
      await this.#fill(groups);
      copied += keysOf(groups);
      if (left === 0) return copied;
      if (isResting) await this.#rest(startedAtMs);
    }
  }

  /** Closes the old partitions, copies the last changes, compares, and opens the new ones (PCO3). */
  async #finish(): Promise<void> {
    const { from, to } = this.order;
    this.#endMs = this.ports.clock.monotonicMs() + MAX_PAUSE_MS;
    await Promise.all(from.map((partition) => this.#step(partition, 'close')));
    await Promise.all(from.map((partition) => this.#copyChanges(partition, false)));
    const heads = await this.#headsOf(from);
    await Promise.all(
      to.map(async (partition, index) => {
        const effects = this.#partsOf(heads, index);
        if (effects !== '') await this.#step(partition, 'fill', effects);
      }),
    );
    const [before, after] = await Promise.all([this.#sizeOf(from), this.#sizeOf(to)]);
    if (before !== after) {
      throw new MillraceError('DEFECT', `the new partitions have ${after} keys, the old ones ${before}`);
    }
    await this.order.onFilled();
    await Promise.all(to.map((partition) => this.#step(partition, 'open')));
  }

  /** The effects of all parts of a new partition that are not keys. */
  #partsOf(heads: readonly Head[], index: number): string {
    const { length } = this.order.to;
    let effects = heads[0]?.[1] ?? '';
    for (const [, , aliases = []] of heads) {
      for (const [alias, name] of aliases) {
        if (partitionOfSlot(hashSlot(alias), length) === index) effects += encodeCommand([ALIAS_EFFECT, alias, name]);
      }
    }
    return effects;
  }

  async #headsOf(partitions: readonly PartitionName[]): Promise<readonly Head[]> {
    const heads = await Promise.all(partitions.map((partition) => this.#step(partition, 'head')));
    return heads as unknown[] as Head[];
  }

  async #sizeOf(partitions: readonly PartitionName[]): Promise<number> {
    return (await this.#headsOf(partitions)).reduce((sum, [size]) => sum + size, 0);
  }

  /** Replaces the keys of each group in its new partition, and compares them (PCO2). */
  async #fill(groups: readonly Group[]): Promise<void> {
    await Promise.all(
      groups.map(async ([index, keys, pieces, digest]) => {
        const partition = this.order.to[index] as PartitionName;
        for (const piece of pieces.slice(0, -1)) await this.#step(partition, 'fill', piece);
        const [, filled] = (await this.#step(partition, 'fill', pieces.at(-1) as ByteString, ...keys)) as [
          number,
          string,
        ];
        if (filled !== digest) throw new MillraceError('DEFECT', `keys of ${partition} differ from those copied`);
      }),
    );
  }

  /** A step has the same result when it is repeated. */
  async #step(partition: PartitionName, name: string, ...words: readonly ByteString[]): Promise<Reply> {
    const { gateway, clock, timers } = this.ports;
    const { database, attempt, isWanted } = this.order;
    const command = [name, String(attempt), ...words];
    const bytes = command.reduce((sum, word) => sum + word.length, 0);
    const giveUpMs = clock.monotonicMs() + PATIENCE_MS;
    for (;;) {
      if (!isWanted()) throw new MillraceError('SHUTTING_DOWN', 'the copy of the partitions was ended');
      try {
        const { replies } = await gateway.execute({
          database,
          partition,
          mode: 'transfer',
          commands: [command],
          bytes,
        });
        if (clock.monotonicMs() > this.#endMs) throw this.#pauseIsOver();
        return replies[0] as Reply;
      } catch (error) {
        const isPassing = isMillraceError(error) && (error.retryable || error.code === 'OUTCOME_UNKNOWN');
        if (!isPassing || error.code === 'STORAGE_FULL' || error.code === 'TIMED_OUT') throw error;
        if (clock.monotonicMs() > Math.min(giveUpMs, this.#endMs))
          throw this.#endMs < giveUpMs ? this.#pauseIsOver() : error;
        await timers.pause(RETRY_MS);
      }
    }
  }

  #pauseIsOver(): MillraceError {
    return new MillraceError('TIMED_OUT', `the last changes were not copied within ${MAX_PAUSE_MS} ms`);
  }

  async #rest(startedAtMs: number): Promise<void> {
    const tookMs = this.ports.clock.monotonicMs() - startedAtMs;
    await this.ports.timers.pause(Math.min(MAX_REST_MS, tookMs));
  }
}

function keysOf(groups: readonly Group[]): number {
  return groups.reduce((sum, [, keys]) => sum + keys.length, 0);
}
