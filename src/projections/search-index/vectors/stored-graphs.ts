/**
 * The graphs of the vectors of one shard, in files, so that a start need not link all vectors again. A file has the graph
 * of some moment: each vector in it is compared with the present one, and the others are linked afterwards.
 *
 *  SGF1 a graph is built only after its file was read, or could not be; until then all vectors are compared
 *  SGF2 a lost, damaged or outdated file costs time, and no result
 */
import { bytesOfText, describeError, type PartitionName } from '../../../kernel/index.js';
import { type Clock, type IndexFiles, isWorthStoring, type Log, STORE_EVERY_MS } from '../../../ports/index.js';
import type { VectorDatabase } from './vector-database.js';
import type { VectorNamespace } from './vector-namespace.js';

/** Fewer vectors are linked within seconds. */
const MIN_LINKED = 5000;

/** Lets other work run; false: the fold has ended. */
export type Pause = () => Promise<boolean>;

export class StoredGraphs {
  /** Namespaces with files that were read, or could not be. */
  readonly #read = new WeakSet<VectorNamespace>();
  readonly #stored = new WeakMap<VectorNamespace, { readonly changes: number; readonly atMs: number }>();
  readonly #kept = new Map<PartitionName, string>();

  constructor(
    private readonly files: IndexFiles,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Reads the files of graphs that are not built yet. */
  async restore(partition: PartitionName, database: VectorDatabase, pause: Pause): Promise<void> {
    for (const [name, namespace] of database.named()) {
      if (this.#read.has(namespace) || namespace.dense.size < MIN_LINKED) continue;
      this.#read.add(namespace);
      const bytes = await this.#tried(partition, () => this.files.read(partition, fileOf(name, namespace)));
      if (bytes === undefined) continue;
      const restored = await resultOf(namespace.restoreGraph(bytes), pause);
      if (restored === undefined) return;
      this.#stored.set(namespace, { changes: namespace.dense.changes, atMs: this.clock.monotonicMs() });
      this.log.info('graph-file.read', { partition, restored, vectors: namespace.dense.size });
    }
  }

  /** Milliseconds until a graph is to be stored; undefined: none has changed enough. */
  dueInMs(database: VectorDatabase): number | undefined {
    let least: number | undefined;
    for (const [, namespace] of database.named()) {
      const inMs = this.#dueInMs(namespace);
      if (inMs !== undefined && (least === undefined || inMs < least)) least = inMs;
    }
    return least;
  }

  /** Stores the graphs that are due, and removes the files of names that no longer exist. */
  async store(partition: PartitionName, database: VectorDatabase, pause: Pause): Promise<void> {
    for (const [name, namespace] of database.named()) {
      if (this.#dueInMs(namespace) !== 0) continue;
      this.#stored.set(namespace, { changes: namespace.dense.changes, atMs: this.clock.monotonicMs() });
      await this.#tried(partition, () => this.#write(partition, name, namespace, pause));
    }
    await this.#keepPresent(partition, database);
  }

  async #keepPresent(partition: PartitionName, database: VectorDatabase): Promise<void> {
    const names = Array.from(database.named(), ([name, namespace]) => fileOf(name, namespace));
    const text = names.join('\n');
    if (this.#kept.get(partition) === text) return;
    this.#kept.set(partition, text);
    await this.#tried(partition, () => this.files.keepOnly(partition, names));
  }

  async #write(partition: PartitionName, name: string, namespace: VectorNamespace, pause: Pause): Promise<void> {
    const draft = this.files.write(partition, fileOf(name, namespace));
    let isComplete = false;
    try {
      for (const piece of namespace.graphPieces()) {
        if (!(await pause())) return;
        if (piece !== undefined) await draft.append(piece);
      }
      await draft.complete();
      isComplete = true;
    } finally {
      if (!isComplete) await draft.discard();
    }
  }

  #dueInMs(namespace: VectorNamespace): number | undefined {
    const { dense } = namespace;
    if (!dense.isAtRest) return undefined;
    const { changes, atMs } = this.#stored.get(namespace) ?? { changes: 0, atMs: Number.NEGATIVE_INFINITY };
    if (!isWorthStoring(dense.linked, dense.changes - changes)) return undefined;
    return Math.max(0, atMs + STORE_EVERY_MS - this.clock.monotonicMs());
  }

  async #tried<T>(partition: PartitionName, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.log.warn('graph-file.failed', { partition, error: describeError(error) });
      return undefined;
    }
  }
}

/** Another precision or another number of dimensions has another file. */
function fileOf(name: string, { dense: { vectors } }: VectorNamespace): string {
  return bytesOfText(`${vectors.precision} ${vectors.dimension} ${name}`);
}

/** The result of work; undefined: the fold has ended. */
async function resultOf<T>(work: Generator<void, T>, pause: Pause): Promise<T | undefined> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (!(await pause())) return undefined;
  }
}
