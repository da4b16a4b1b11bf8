/**
 * A read model that can be made anew while it answers: another one is folded into a file beside, and takes its place once
 * it has all that is stored.
 *
 *  RBE1 questions are answered by the old one until the new one has taken its place; those of that moment wait for it
 *  RBE2 a process that dies meanwhile leaves the old one, and the file beside is thrown away at the next start
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

export interface RebuiltBesideParts<Model> {
  readonly name: string;
  readonly files: SqlFiles;
  readonly beside: MovableFiles;
  create(files: SqlFiles): Model;
  readonly timers: Timers;
  readonly log: Log;
}

const LOOK_EVERY_MS = 100;

export class RebuiltBeside<Model extends RebuildableModel> {
  #current: Model;
  #next: Model | undefined;
  #rebuilding: Promise<void> | undefined;
  /** While one takes the place of the other. */
  #swapping: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly parts: RebuiltBesideParts<Model>) {
    parts.beside.remove();
    this.#current = parts.create(parts.files);
  }

  /** The one that answers, for what need not be exact. */
  get current(): Model {
    return this.#current;
  }

  /** Those that fold at the moment. */
  get all(): readonly Model[] {
    return this.#next === undefined ? [this.#current] : [this.#current, this.#next];
  }

  start(): void {
    this.#current.start();
  }

  /** RBE1. */
  async answering(): Promise<Model> {
    await this.#swapping;
    return this.#current;
  }

  /** Resolves when the new one answers, or never will. Asked again meanwhile, it is the same. */
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
    const { name, beside, create, timers, log } = this.parts;
    if (this.#isStopped) return;
    log.info('read-model.rebuild-begun', { model: name });
    beside.remove();
    const next = create(beside);
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
    const { files, beside, create } = this.parts;
    await Promise.all([next.stop(), this.#current.stop()]);
    beside.moveTo(files);
    this.#next = undefined;
    this.#current = create(files);
    this.#current.start();
  }
}
