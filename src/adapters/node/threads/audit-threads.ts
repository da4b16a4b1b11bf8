/**
 * Reads the journal for audits, in one thread for each question.
 *
 *  AT1 the number of parallel threads is bounded, because each reads the journal at full speed
 *  AT2 a thread ends with the consumer of its texts, with the signal, and with the process
 */
import { Worker } from 'node:worker_threads';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { AuditTask, JournalAudit, Log } from '../../../ports/index.js';
import type { JobTask } from '../jobs/job-processes.js';
import type { FromAudit, ToAudit } from './audit-worker.js';

export interface AuditThreadsOptions<Installation> {
  readonly entry: URL;
  /** Cloned into each thread: plain data. */
  readonly installation: Installation;
  readonly log: Log;
  /** Default: two, the cores that a small machine can spare. */
  readonly maxWalks?: number;
  readonly maxHeapMb?: number;
}

const DEFAULT_MAX_WALKS = 2;
/** Enough for a state of some million keys. */
const DEFAULT_MAX_HEAP_MB = 1024;
/** Three semi-spaces, as large as those of the process with its recommended flags. */
const NURSERY_MB = 24;
/** Texts in transit, each at most an entry or a value; more are requested when half are taken. */
const WINDOW = 16;

export class AuditThreads<Installation> implements JournalAudit {
  readonly #workers = new Set<Worker>();
  #isStopped = false;

  constructor(private readonly options: AuditThreadsOptions<Installation>) {}

  run(task: AuditTask, signal: AbortSignal): AsyncIterable<string> {
    const { entry, installation, log, maxWalks = DEFAULT_MAX_WALKS, maxHeapMb = DEFAULT_MAX_HEAP_MB } = this.options;
    if (this.#isStopped || signal.aborted) throw ended();
    if (this.#workers.size >= maxWalks) throw new MillraceError('MAILBOX_FULL', `${maxWalks} audits are under way`);
    const worker = new Worker(entry, {
      name: 'audit',
      workerData: { job: task, installation } satisfies JobTask<Installation, AuditTask>,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: NURSERY_MB },
    });
    this.#workers.add(worker);
    const heard = new Heard(worker, log);
    const end = () => {
      heard.fail(ended());
      void worker.terminate();
    };
    signal.addEventListener('abort', end);
    worker.once('exit', () => {
      signal.removeEventListener('abort', end);
      this.#workers.delete(worker);
    });
    return textsOf(worker, heard);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }
}

async function* textsOf(worker: Worker, heard: Heard): AsyncIterable<string> {
  try {
    heard.ask(WINDOW);
    let taken = 0;
    for (;;) {
      const text = await heard.next();
      if (text === undefined) return;
      yield text;
      taken += 1;
      if (taken % (WINDOW / 2) === 0) heard.ask(WINDOW / 2);
    }
  } finally {
    await worker.terminate();
  }
}

function ended(): MillraceError {
  return new MillraceError('SHUTTING_DOWN', 'the audit was ended');
}

/** Received texts that were not taken yet. */
class Heard {
  readonly #texts: string[] = [];
  #failure: MillraceError | undefined;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(
    private readonly worker: Worker,
    log: Log,
  ) {
    worker.on('message', (message: FromAudit) => {
      if (message.kind === 'log') log[message.level](message.event, message.fields);
      else if (message.kind === 'text') this.#texts.push(message.text);
      else if (message.kind === 'end') this.#isOver = true;
      else this.fail(new MillraceError(message.code, message.message));
      this.#wake();
    });
    worker.on('error', (error) => this.fail(new MillraceError('DEFECT', describeError(error), {}, error)));
    worker.on('exit', () => this.fail(ended()));
  }

  ask(count: number): void {
    this.worker.postMessage({ kind: 'more', count } satisfies ToAudit);
  }

  fail(error: MillraceError): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** Undefined at the end. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) return text;
      if (this.#isOver) return undefined;
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
