/**
 * The workers of one installation: starts them, starts each again that ends, and replaces them one after the other.
 *
 *  WPO1 a start fails with the reason of the first worker that cannot start; after the start no worker's end ends the
 *       others
 *  WPO2 a worker that ends is announced before it is started again, after a pause that grows with each failure; an end
 *       in order is none
 *  WPO3 a replaced worker ends after its successor serves; a successor that does not serve ends, and the old one stays
 *  WPO4 at most one worker keeps the read models; another one does when it has ended
 */
import cluster from 'node:cluster';
import { describeError, MillraceError } from '../../kernel/index.js';
import type { Check, Log } from '../../ports/index.js';
import type { ReadyWorker, WorkerSession, WorkerStart } from './messages.js';
import { REPORT_EVERY_MS, ReportWatch } from './report-watch.js';
import { SharedPorts } from './shared-ports.js';
import { type WorkerEnd, type WorkerEnvironment, WorkerProcess } from './worker-process.js';
import type { WorkerRecord } from './worker-record.js';

/** A metric's name, from its `# HELP` line to the next metric. */
const BLOCK = /^# HELP (\S+) .*\n(?:# TYPE .*\n)?/;

/** @param pages with labels that tell the workers apart. @returns a page in which each metric is declared once */
export function joinedPages(pages: readonly string[]): string {
  const blocks = new Map<string, { readonly head: string; samples: string }>();
  for (const page of pages) {
    for (const block of page.split(/^(?=# HELP )/m)) {
      const [head, name] = BLOCK.exec(block) ?? [];
      if (head === undefined || name === undefined) continue;
      const known = blocks.get(name) ?? { head, samples: '' };
      known.samples += block.slice(head.length).replace(/\n+$/, '\n');
      blocks.set(name, known);
    }
  }
  return [...blocks.values()].map(({ head, samples }) => head + samples).join('\n');
}

export interface WorkerPoolOptions {
  readonly workers: number;
  /** The words of the command line, which workers get too. */
  readonly args: readonly string[];
  readonly environment: WorkerEnvironment;
  /** Tells the places of these workers from those of other machines. */
  readonly placePrefix: string;
  /** Read models are kept by one of them. */
  readonly keepsModels: boolean;
  readonly shutdownMs: number;
  /** A worker that is silent for longer is ended. */
  readonly silenceMs: number;
  /** Tells the other workers that this session will never answer again. */
  announceEnd(session: WorkerSession): Promise<void>;
  /** Knows the workers after a kill of the supervisor; undefined: the directory has no lock. */
  readonly record: WorkerRecord | undefined;
  readonly log: Log;
}

/** A worker that has served for this long failed for another reason than the last time. */
const STEADY_AFTER_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Crashes of a worker before the first start has succeeded. */
const START_TRIES = 3;
/** Workers that start together wait no longer for each other. */
const JOIN_WITHIN_MS = 10_000;
/** A successor that serves later has failed; loading large shards takes a while. */
const SERVES_WITHIN_MS = 120_000;
/** After the time that a worker has for its end. */
const SPARE_MS = 1_000;

/** The pause before a worker is started again, in milliseconds. @param failures in a row, from 1 */
export function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}

interface Slot {
  readonly number: number;
  worker: WorkerProcess;
  failures: number;
  startedAtMs: number;
  restart: NodeJS.Timeout | undefined;
}

export class WorkerPool {
  readonly #slots: Slot[] = [];
  readonly #workers = new Set<WorkerProcess>();
  readonly #ports: SharedPorts;
  #modelsKeeper: WorkerProcess | undefined;
  #environment: WorkerEnvironment;
  #mayGo = false;
  #hasStarted = false;
  #isStopping = false;
  #restarts = 0;
  #turns = 0;
  #reload: Promise<void> | undefined;
  #watching: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: WorkerPoolOptions,
    private readonly start: Promise<Omit<WorkerStart, 'number' | 'place' | 'keepsCredentials'>>,
  ) {
    this.#environment = options.environment;
    this.#ports = new SharedPorts(options.log);
    cluster.setupPrimary({ exec: process.argv[1] as string, args: [...options.args] });
  }

  /** @returns the facts of the ready line. @throws MillraceError (WPO1) */
  async begin(): Promise<ReadyWorker> {
    for (let number = 1; number <= this.options.workers; number += 1) {
      const worker = this.#fork(number, this.#environment);
      this.#slots.push({ number, worker, failures: 0, startedAtMs: performance.now(), restart: undefined });
    }
    const [first] = this.#slots;
    if (this.options.keepsModels && first !== undefined) this.#keepModels(first.worker);
    const silence = new ReportWatch(this.options.silenceMs, performance.now());
    this.#watching = setInterval(() => silence.check(this.#workers, performance.now()), REPORT_EVERY_MS);
    const mayGo = setTimeout(() => this.#go(), JOIN_WITHIN_MS);
    void this.start.then(() => mayGo.refresh()).catch(() => undefined);
    try {
      const facts = await Promise.all(this.#slots.map((slot) => this.#firstStart(slot)));
      this.#hasStarted = true;
      for (const slot of this.#slots) this.#watch(slot);
      return {
        addresses: facts[0]?.addresses ?? [],
        credentials: facts.find(({ credentials }) => credentials)?.credentials,
      };
    } finally {
      clearTimeout(mayGo);
    }
  }

  /** Replaces each worker. @param changes to its environment. @throws MillraceError if a successor does not serve (WPO3) */
  async reload(changes: WorkerEnvironment): Promise<void> {
    if (this.#reload !== undefined) throw new MillraceError('CONFLICT', 'the workers are being replaced already');
    this.#reload = this.#replaceAll({ ...this.#environment, ...changes });
    try {
      await this.#reload;
    } finally {
      this.#reload = undefined;
    }
  }

  /** @returns whether all ended in time */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    for (const { restart } of this.#slots) clearTimeout(restart);
    const ends = await Promise.all([...this.#workers].map((worker) => worker.end(this.options.shutdownMs)));
    clearInterval(this.#watching);
    return ends.every((isInTime) => isInTime);
  }

  /** The checks of every worker, and whether each serves; a worker that is started again is no failure of the others. */
  async checks(): Promise<Record<string, Check>> {
    const serving = this.#slots.filter(({ worker }) => worker.isReady && !worker.isEnding && !worker.hasEnded);
    const answers = await Promise.all(
      serving.map(async ({ worker }) => [worker.number, await worker.ask('checks')] as const),
    );
    const checks: Record<string, Check> = {
      workers: {
        ok: this.#hasStarted && serving.length > 0,
        detail: `${serving.length} of ${this.options.workers} workers serve`,
      },
    };
    for (const [number, answer = { answers: { ok: false, detail: 'the worker does not answer' } }] of answers) {
      for (const [name, check] of Object.entries(answer)) {
        const known = checks[name];
        const detail = check.detail === undefined ? undefined : `worker ${number}: ${check.detail}`;
        if (known === undefined || (known.ok && !check.ok)) checks[name] = { ...check, ...(detail && { detail }) };
      }
    }
    return checks;
  }

  /** The metrics of all workers as one page. */
  async metrics(): Promise<string> {
    const pages = await Promise.all([...this.#workers].map((worker) => worker.ask('metrics')));
    const own = [
      '# HELP millrace_workers Workers that serve.\n# TYPE millrace_workers gauge',
      `millrace_workers ${this.#slots.filter(({ worker }) => worker.isReady && !worker.hasEnded).length}\n`,
      '# HELP millrace_worker_restarts_total Workers that ended and were started again.',
      `# TYPE millrace_worker_restarts_total counter\nmillrace_worker_restarts_total ${this.#restarts}\n`,
    ];
    return `${joinedPages(pages.flatMap((page) => page ?? []))}\n${own.join('\n')}`;
  }

  #fork(number: number, environment: WorkerEnvironment): WorkerProcess {
    const keepsCredentials = number === 1;
    const place = { name: `${this.options.placePrefix}${number}`, turn: this.#turns };
    this.#turns += 1;
    const start = this.start.then((facts) => ({ ...facts, place, keepsCredentials, givesConnections: true }));
    // The supervisor ends when its installation does not open.
    start.catch(() => undefined);
    const worker = new WorkerProcess(number, environment, start, {
      joined: (joined) => this.#joined(joined),
      rebuild: (model) => this.#modelsKeeper?.send({ kind: 'rebuild', model }),
      listen: (listening, port) => this.#ports.listen(listening, port, this.options.workers),
      leave: (leaving, key) => this.#ports.leave(leaving, key),
    });
    this.#workers.add(worker);
    void worker.ended.then(() => this.#forget(worker));
    this.#note(worker).catch((error: unknown) =>
      // Without the directory the start fails, with the reason.
      this.options.log.debug('worker.not-recorded', { worker: number, cause: describeError(error) }),
    );
    return worker;
  }

  async #note({ pid, ended }: WorkerProcess): Promise<void> {
    await this.options.record?.began(pid);
    await ended;
    await this.options.record?.ended(pid);
  }

  /** Workers that start at the same time first learn of each other, so that each takes its own shards only. */
  #joined(worker: WorkerProcess): void {
    if (this.#mayGo) this.#sendGo(worker);
    else if ([...this.#workers].every(({ hasJoined }) => hasJoined)) this.#go();
  }

  #go(): void {
    this.#mayGo = true;
    for (const worker of this.#workers) if (worker.hasJoined) this.#sendGo(worker);
  }

  #sendGo(worker: WorkerProcess): void {
    const processes = [...this.#workers].flatMap(({ session }) => session?.process ?? []);
    worker.send({ kind: 'go', processes });
  }

  async #firstStart(slot: Slot): Promise<ReadyWorker> {
    for (let tries = 1; ; tries += 1) {
      const { worker } = slot;
      const outcome = await Promise.race([worker.ready, worker.ended]);
      if ('addresses' in outcome) return outcome;
      if (outcome.failure !== undefined) throw outcome.failure;
      const message = `worker ${slot.number} ended before it served: ${outcome.how}`;
      if (tries === START_TRIES || this.#isStopping) throw new MillraceError('DEFECT', message);
      this.#tellEnd(slot, outcome, 0);
      slot.worker = this.#fork(slot.number, this.#environment);
      if (this.options.keepsModels && this.#modelsKeeper === undefined) this.#keepModels(slot.worker);
    }
  }

  /** Starts the worker of the slot again after each of its ends (WPO2). */
  #watch(slot: Slot): void {
    const { worker } = slot;
    void worker.ready.then(() => this.#giveModels());
    void worker.ended.then((end) => {
      if (this.#isStopping || slot.worker !== worker) return;
      const isSteady = worker.isReady && performance.now() - slot.startedAtMs >= STEADY_AFTER_MS;
      if (isSteady) slot.failures = 0;
      if (!end.isOrdered) slot.failures += 1;
      const pauseMs = end.isOrdered ? FIRST_PAUSE_MS : pauseAfter(slot.failures);
      this.#tellEnd(slot, end, pauseMs);
      slot.restart = setTimeout(() => this.#startAgain(slot), pauseMs);
    });
  }

  #startAgain(slot: Slot): void {
    this.#restarts += 1;
    slot.startedAtMs = performance.now();
    slot.worker = this.#fork(slot.number, this.#environment);
    this.#watch(slot);
  }

  #tellEnd({ number, failures }: Slot, { how, isOrdered, failure }: WorkerEnd, pauseMs: number): void {
    const reason = failure === undefined ? how : `${how}: ${describeError(failure)}`;
    this.options.log[isOrdered ? 'info' : 'error']('worker.ended', {
      worker: number,
      reason,
      failures,
      startsAgainInMs: pauseMs,
    });
  }

  #forget(worker: WorkerProcess): void {
    this.#workers.delete(worker);
    this.#ports.forget(worker);
    const { log, announceEnd } = this.options;
    const { session } = worker;
    // The last ones of an installation have no other that could learn of it.
    if (session !== undefined && this.#workers.size > 0) {
      announceEnd(session).catch((error: unknown) =>
        log.warn('worker.end-unknown', { worker: worker.number, cause: describeError(error) }),
      );
    }
    if (this.#modelsKeeper === worker) {
      this.#modelsKeeper = undefined;
      this.#giveModels();
    }
  }

  #giveModels(): void {
    if (!this.options.keepsModels || this.#modelsKeeper !== undefined || this.#isStopping) return;
    const serving = this.#slots
      .map(({ worker }) => worker)
      .find(({ isReady, isEnding, hasEnded }) => isReady && !isEnding && !hasEnded);
    if (serving !== undefined) this.#keepModels(serving);
  }

  #keepModels(worker: WorkerProcess): void {
    this.#modelsKeeper = worker;
    worker.send({ kind: 'duty' });
    this.options.log.info('worker.keeps-models', { worker: worker.number });
  }

  async #replaceAll(environment: WorkerEnvironment): Promise<void> {
    for (const slot of this.#slots) {
      if (this.#isStopping) return;
      const worker = await this.#successor(slot, environment);
      const old = slot.worker;
      clearTimeout(slot.restart);
      Object.assign(slot, { worker, failures: 0, startedAtMs: performance.now(), restart: undefined });
      this.#watch(slot);
      if (!old.hasEnded) await old.end(this.options.shutdownMs + SPARE_MS);
      this.options.log.info('worker.replaced', { worker: slot.number, pid: worker.pid });
    }
    this.#environment = environment;
  }

  /** @throws MillraceError if it does not serve (WPO3) */
  async #successor({ number }: Slot, environment: WorkerEnvironment): Promise<WorkerProcess> {
    const worker = this.#fork(number, environment);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), SERVES_WITHIN_MS);
    });
    const outcome = await Promise.race([worker.ready, worker.ended, late]);
    clearTimeout(timer);
    if (outcome !== undefined && 'addresses' in outcome) return worker;
    worker.kill();
    const reason = outcome === undefined ? `not ready within ${SERVES_WITHIN_MS} ms` : outcome.how;
    throw new MillraceError(
      'BAD_CONFIG',
      `the new worker ${number} does not serve, and the old ones stay: ${outcome?.failure?.message ?? reason}`,
    );
  }
}
