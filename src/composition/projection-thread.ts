/**
 * The thread of the read models, seen from the process that lives from its main one.
 *
 *  PT1 a thread that dies takes its questions with it, and nothing else; another one is started after a pause
 *  PT2 questions are bounded in number and in time
 */
import { Worker } from 'node:worker_threads';
import { describeError, MillraceError } from '../kernel/index.js';
import type { Log, Timer, Timers } from '../ports/index.js';
import type { ReadModelStatus } from '../projections/index.js';
import type { EventLimit } from './event-limits.js';
import type { FromProjection, ProjectionTask, ToProjection } from './projection-worker.js';

export interface ProjectionThreadOptions {
  readonly entry: URL;
  readonly task: ProjectionTask;
  readonly log: Log;
  readonly timers: Timers;
  /** A thread has begun, the first one or another. */
  readonly onBegun?: () => void;
  /** Heap of the thread; the tables' pages are beside it. */
  readonly maxHeapMb?: number;
  readonly restartMs?: number;
  /** Longer than a question may wait and search. */
  readonly answerMs?: number;
}

interface Asked {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: MillraceError) => void;
  readonly timer: Timer;
}

const DEFAULT_MAX_HEAP_MB = 512;
/** New objects die young here; a larger nursery only costs memory. */
const YOUNG_GENERATION_MB = 16;
const DEFAULT_RESTART_MS = 1000;
const DEFAULT_ANSWER_MS = 5000;
const STOP_MS = 5000;
/** Questions under way; each may bring a page of some MB. */
const MAX_QUESTIONS = 64;

export class ProjectionThread {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #status: ReadModelStatus | undefined;
  #isStopped = false;
  #restart: Timer | undefined;
  #lastId = 0;
  readonly #asked = new Map<number, Asked>();

  constructor(private readonly options: ProjectionThreadOptions) {}

  start(): void {
    const { entry, task, log, timers } = this.options;
    const { maxHeapMb = DEFAULT_MAX_HEAP_MB, restartMs = DEFAULT_RESTART_MS } = this.options;
    const worker = new Worker(entry, {
      name: 'read models',
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker = worker;
    worker.on('message', (message: FromProjection) => this.#hear(message));
    worker.on('error', (error) => log.error('read-model.thread-failed', { reason: describeError(error) }));
    this.#ended = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#worker = undefined;
        this.#status = undefined;
        this.#refuseAll('the thread of the read models has ended');
        if (!this.#isStopped) {
          log.warn('read-model.thread-ended', { code });
          this.#restart = timers.after(restartMs, () => this.start());
        }
        resolve();
      });
    });
    this.options.onBegun?.();
  }

  /** How many events of these accounts are kept from now on. Lost where there is no thread: the next one knows none. */
  limitEvents(limits: readonly EventLimit[]): void {
    this.#worker?.postMessage({ kind: 'limits', limits } satisfies ToProjection);
  }

  /** As the thread last said it; undefined while there is none. */
  get status(): ReadModelStatus | undefined {
    return this.#status;
  }

  /** @throws SHARD_UNAVAILABLE, MAILBOX_FULL, TIMED_OUT, and what the read models throw */
  ask(question: Uint8Array): Promise<Uint8Array> {
    const worker = this.#worker;
    if (worker === undefined || this.#isStopped) {
      return Promise.reject(new MillraceError('SHARD_UNAVAILABLE', 'the read models are not there'));
    }
    if (this.#asked.size >= MAX_QUESTIONS) {
      return Promise.reject(new MillraceError('MAILBOX_FULL', 'too many questions to the read models'));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = this.options.timers.after(this.options.answerMs ?? DEFAULT_ANSWER_MS, () => {
        this.#asked.delete(id);
        reject(new MillraceError('TIMED_OUT', 'the read models did not answer in time'));
      });
      this.#asked.set(id, { resolve, reject, timer });
      worker.postMessage({ kind: 'ask', id, question } satisfies ToProjection);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#restart?.cancel();
    this.#refuseAll('the process is stopping');
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.postMessage({ kind: 'stop' } satisfies ToProjection);
    // What it has not written by then is folded again at the next start.
    const timer = this.options.timers.after(STOP_MS, () => void worker.terminate());
    await this.#ended;
    timer.cancel();
  }

  #hear(message: FromProjection): void {
    switch (message.kind) {
      case 'status':
        this.#status = message.status;
        return;
      case 'log':
        this.options.log[message.level](message.event, message.fields);
        return;
      case 'answer':
        this.#taken(message.id)?.resolve(message.bytes);
        return;
      case 'failure':
        this.#taken(message.id)?.reject(new MillraceError(message.code, message.message, message.details));
        return;
    }
  }

  #taken(id: number): Asked | undefined {
    const asked = this.#asked.get(id);
    asked?.timer.cancel();
    this.#asked.delete(id);
    return asked;
  }

  #refuseAll(reason: string): void {
    for (const id of [...this.#asked.keys()]) this.#taken(id)?.reject(new MillraceError('SHARD_UNAVAILABLE', reason));
  }
}
