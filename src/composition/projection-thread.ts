/**
 * The thread of the read models, seen from the process that lives from its main one. Threads follow each other after
 * pauses that do not grow: each goes on where the last one had written to (answering-thread.ts, AN1).
 */

import { AnsweringThread, type AnsweringThreadOptions } from '../adapters/node/index.js';
import type { EventLimit, ReadModelStatus, StatisticsStatus } from '../projections/index.js';
import type { ProjectionStatus, ProjectionTask, ProjectionWord } from './projection-worker.js';

export interface ProjectionThreadOptions extends AnsweringThreadOptions<ProjectionTask> {
  /** A thread has begun, the first one or another. */
  readonly onBegun?: () => void;
}

/** The tables' pages are beside it. */
const DEFAULT_MAX_HEAP_MB = 512;
/** New objects die young here; a larger nursery only costs memory. */
const YOUNG_GENERATION_MB = 16;
/** Each may bring a page of some MB. */
const MAX_QUESTIONS = 64;

export class ProjectionThread extends AnsweringThread<ProjectionTask, ProjectionWord, ProjectionStatus> {
  readonly #onBegun: () => void;

  constructor(options: ProjectionThreadOptions) {
    super(options, {
      name: 'read models',
      events: 'read-model',
      limits: {
        maxOldGenerationSizeMb: options.maxHeapMb ?? DEFAULT_MAX_HEAP_MB,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
      },
      maxQuestions: MAX_QUESTIONS,
      isCaughtUp: ({ readModels }) => readModels.isCaughtUp,
    });
    this.#onBegun = options.onBegun ?? (() => {});
  }

  /** How many events of these accounts are kept from now on. Lost where there is no thread: the next one knows none. */
  limitEvents(limits: readonly EventLimit[]): void {
    this.tell({ kind: 'limits', limits });
  }

  /** Beside the one that answers. Lost where there is no thread. */
  rebuild(model: 'messages' | 'statistics'): void {
    this.tell({ kind: 'rebuild', model });
  }

  get status(): ReadModelStatus | undefined {
    return this.lastStatus?.readModels;
  }

  get statistics(): StatisticsStatus | undefined {
    return this.lastStatus?.statistics;
  }

  protected begun(): void {
    this.#onBegun();
  }
}
