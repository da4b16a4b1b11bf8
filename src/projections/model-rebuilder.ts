/**
 * Rebuilds a read model while the old one still serves: a new one is folded into a second file and replaces the old
 * one when it has all stored entries.
 *
 *  RBE1 the old one answers questions until the new one has replaced it; questions during the replacement wait
 *  RBE2 a process that dies during the rebuild leaves the old file, and the second file is removed at the next start
 */
import type { Log, SqlFiles, Timers } from '../ports/index.js';

export interface RebuildableModel {
  start(): void;
  stop(): Promise<void>;
  status(): { readonly isCaughtUp: boolean };
}

export interface MovableFiles extends SqlFiles {
  moveTo(other: SqlFiles): void;
}

export interface ModelRebuilderParts<Model> {
  readonly name: string;
  readonly files: SqlFiles;
  readonly nextFiles: MovableFiles;
  create(files: SqlFiles): Model;
  readonly timers: Timers;
  readonly log: Log;
}

const LOOK_EVERY_MS = 100;

export class ModelRebuilder<Model extends RebuildableModel> {
  #current: Model;
  #next: Model | undefined;
  #rebuilding: Promise<void> | undefined;
  /** Set during the replacement. */
  #swapping: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly parts: ModelRebuilderParts<Model>) {
    parts.nextFiles.remove();
    this.#current = parts.create(parts.files);
  }

  /** The serving model, for reads that may be slightly out of date. */
  get current(): Model {
    return this.#current;
  }

  /** The models that are folding now. */
  get all(): readonly Model[] {
    return this.#next === undefined ? [this.#current] : [this.#current, this.#next];
  }

  start(): void {
    this.#current.start();
  }

  /** Waits for a replacement in progress: RBE1 (questions during the replacement wait). */
  async answering(): Promise<Model> {
    await this.#swapping;
    return this.#current;
  }

  /** Resolves after the replacement, or when the model is stopped. Concurrent calls share one rebuild. */
  rebuild(): Promise<void> {
    this.#rebuilding ??= this.#rebuild().finally(() => {
      this.#rebuilding = undefined;
    });
    return this.#rebuilding;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#rebuilding;
    await this.#current.stop();
  }

  async #rebuild(): Promise<void> {
    const { name, nextFiles, create, timers, log } = this.parts;
    if (this.#isStopped) return;
    log.info('read-model.rebuild-begun', { model: name });
    nextFiles.remove();
    const next = create(nextFiles);
    this.#next = next;
    next.start();
    while (!this.#isStopped && !next.status().isCaughtUp) {
      await timers.pause(LOOK_EVERY_MS);
    }
    if (this.#isStopped) {
      await next.stop();
      return;
    }
    this.#swapping = this.#swap(next).finally(() => {
      this.#swapping = undefined;
    });
    await this.#swapping;
    log.info('read-model.rebuilt', { model: name });
  }

  async #swap(next: Model): Promise<void> {
    const { files, nextFiles, create } = this.parts;
    await Promise.all([next.stop(), this.#current.stop()]);
    nextFiles.moveTo(files);
    this.#next = undefined;
    this.#current = create(files);
    this.#current.start();
  }
}
