/**
 * The main thread's side of a thread that answers questions.
 *
 *  AN1 a thread that dies fails only its questions; another is started after a pause, which doubles up to a bound
 *      while threads die before they have caught up
 *  AN2 questions are bounded in number and in time
 *  AN3 a thread of a kind with `unneeded` begins with the first message or question, because an idle isolate takes a
 *      dozen megabytes
 */
import type { Worker } from 'node:worker_threads';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { Log, Timer, Timers } from '../../../ports/index.js';
import type { AnsweringStatus, FromAnswering, ToAnswering } from './answering-worker.js';
import { type AnsweringKind, beginThread } from './early-threads.js';

export interface AnsweringThreadOptions<Task> {
  readonly entry: URL;
  /** The thread's start data: plain data. */
  readonly task: Task;
  readonly log: Log;
  readonly timers: Timers;
  /** Heap of the thread. */
  readonly maxHeapMb?: number;
  readonly restartMs?: number;
  /** Longer than a question may wait and search. */
  readonly answerMs?: number;
  /** Called when a thread begins, also a replacement, which knows no earlier messages. */
  readonly onBegun?: () => void;
}

interface PendingQuestion {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: MillraceError) => void;
  readonly timer: Timer;
}

const DEFAULT_RESTART_MS = 1000;
const DEFAULT_ANSWER_MS = 5000;
const STOP_MS = 5000;

/** `Word`: a message to the thread that is not a question. */
export class AnsweringThread<Task, Word, Status extends AnsweringStatus> {
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #status: Status | undefined;
  #isStopped = false;
  /** Started, but not used yet (AN3). */
  #isResting = false;
  #restart: Timer | undefined;
  /** Threads in succession that died before they had caught up. */
  #earlyEnds = 0;
  #lastId = 0;
  readonly #asked = new Map<number, PendingQuestion>();

  constructor(
    private readonly options: AnsweringThreadOptions<Task>,
    private readonly kind: AnsweringKind<Status>,
  ) {}

  start(): void {
    if (this.kind.unneeded === undefined) this.#begin();
    else this.#isResting = true;
  }

  #begin(): void {
    this.#isResting = false;
    const { entry, task, log, timers } = this.options;
    const { name, events } = this.kind;
    const worker = beginThread(entry, this.kind, task);
    this.#worker = worker;
    worker.on('message', (message: FromAnswering<Status>) => this.#hear(message));
    worker.on('error', (error) => log.error(`${events}.thread-failed`, { reason: describeError(error) }));
    this.#ended = new Promise((resolve) => {
      worker.on('exit', (code) => {
        const hadEverything = this.#status?.isCaughtUp === true;
        this.#earlyEnds = hadEverything ? 0 : this.#earlyEnds + 1;
        this.#worker = undefined;
        this.#status = undefined;
        this.#refuseAll(`the thread of the ${name} has ended`);
        if (!this.#isStopped) {
          log.warn(`${events}.thread-ended`, { code });
          this.#restart = timers.after(this.#pauseMs(), () => this.#begin());
        }
        resolve();
      });
    });
    this.options.onBegun?.();
  }

  /** True while it was not used: the status is `unneeded`. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Dropped when there is no thread. */
  tell(word: Word): void {
    if (this.#isResting) this.#begin();
    this.#send({ kind: 'word', word });
  }

  /** The thread's last status; undefined without one. */
  get status(): Status | undefined {
    return this.#isResting ? this.kind.unneeded : this.#status;
  }

  /** @throws SHARD_UNAVAILABLE, MAILBOX_FULL, TIMED_OUT, and the errors of the thread */
  ask(question: Uint8Array): Promise<Uint8Array> {
    const { name, maxQuestions } = this.kind;
    if (this.#isResting) this.#begin();
    if (this.#worker === undefined || this.#isStopped) {
      return Promise.reject(new MillraceError('SHARD_UNAVAILABLE', `the ${name} are not running`));
    }
    if (this.#asked.size >= maxQuestions) {
      return Promise.reject(new MillraceError('MAILBOX_FULL', `too many queries to the ${name}`));
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = this.options.timers.after(this.options.answerMs ?? DEFAULT_ANSWER_MS, () => {
        this.#asked.delete(id);
        reject(new MillraceError('TIMED_OUT', `the ${name} did not answer in time`));
      });
      this.#asked.set(id, { resolve, reject, timer });
      this.#send({ kind: 'ask', id, question });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#isResting = false;
    this.#restart?.cancel();
    this.#refuseAll('the process is stopping');
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#send({ kind: 'stop' });
    // No data is lost: unwritten changes are folded again at the next start.
    const timer = this.options.timers.after(STOP_MS, () => void worker.terminate());
    await this.#ended;
    timer.cancel();
  }

  #send(message: ToAnswering<Word>): void {
    this.#worker?.postMessage(message);
  }

  #pauseMs(): number {
    const { restartMs = DEFAULT_RESTART_MS } = this.options;
    const { maxRestartMs = restartMs } = this.kind;
    return Math.min(maxRestartMs, restartMs * 2 ** Math.max(0, this.#earlyEnds - 1));
  }

  #hear(message: FromAnswering<Status>): void {
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

  #taken(id: number): PendingQuestion | undefined {
    const asked = this.#asked.get(id);
    asked?.timer.cancel();
    this.#asked.delete(id);
    return asked;
  }

  #refuseAll(reason: string): void {
    for (const id of [...this.#asked.keys()]) this.#taken(id)?.reject(new MillraceError('SHARD_UNAVAILABLE', reason));
  }
}
