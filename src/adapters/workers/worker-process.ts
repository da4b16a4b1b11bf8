/**
 * One worker as the supervisor sees it: from its start to its end.
 *
 *  WPR1 `ended` resolves after the process has exited, so that it answers no request any more
 *  WPR2 a worker that does not end in time is killed
 */
import cluster, { type Worker } from 'node:cluster';
import { MillraceError, type SessionId } from '../../kernel/index.js';
import { ConnectionLine } from './connection-line.js';
import type {
  Answers,
  ConnectionQuestion,
  FromWorker,
  PortRequest,
  ReadyWorker,
  RebuiltModel,
  ToWorker,
  WorkerQuestion,
  WorkerSession,
  WorkerStart,
} from './messages.js';

/** The end of a worker, in words for the log. */
export interface WorkerEnd {
  readonly how: string;
  /** It served and was asked to end, which is no failure. */
  readonly isOrdered: boolean;
  /** The reason that the worker gave. */
  readonly failure: MillraceError | undefined;
}

/** Variables to change in the environment of the supervisor; an empty text counts as not set. */
export type WorkerEnvironment = Readonly<Record<string, string>>;

/** Called with messages that concern other workers. */
export interface WorkerListener {
  joined(worker: WorkerProcess): void;
  rebuild(model: RebuiltModel): void;
  /** It accepts connections of a port. @returns the actual port. @throws the error of `listen` */
  listen(worker: WorkerProcess, port: PortRequest): Promise<number>;
  /** It gets no other connection of a port. */
  leave(worker: WorkerProcess, key: string): void;
}

/** An answer that takes longer is not waited for. */
const ANSWER_WITHIN_MS = 1_500;
/** A connection waits no longer for the name of its owner. */
const OWNER_WITHIN_MS = 250;

export class WorkerProcess {
  readonly ready: Promise<ReadyWorker>;
  readonly ended: Promise<WorkerEnd>;
  /** Its last session, once it has joined. */
  session: WorkerSession | undefined;
  hasJoined = false;
  isReady = false;
  /** It was asked to end. */
  isEnding = false;
  hasEnded = false;
  /** Since its last report; undefined before the first one. */
  silentMs: number | undefined;
  readonly line = new ConnectionLine(({ key, socket, bytes }, onSent) => {
    const message: ToWorker = { kind: 'connection', key, bytes: bytes?.toString('base64') };
    // Without this option Node closes the socket when the worker has it, and never if the worker ends before.
    if (this.#worker.isConnected()) this.#worker.send(message, socket, { keepOpen: true }, onSent);
    else setImmediate(onSent, new Error('it has no channel'));
  });
  readonly #worker: Worker;
  /** Messages until it listens. */
  #early: ToWorker[] | undefined = [];
  readonly #pending = new Map<number, (answer: unknown) => void>();
  #questions = 0;
  #failure: MillraceError | undefined;
  #killedFor: string | undefined;
  #onReady: (facts: ReadyWorker) => void = () => {};

  constructor(
    readonly number: number,
    environment: WorkerEnvironment,
    /** Resolves when the installation is open. */
    private readonly start: Promise<Omit<WorkerStart, 'number'>>,
    private readonly listener: WorkerListener,
  ) {
    this.ready = new Promise((resolve) => {
      this.#onReady = resolve;
    });
    this.#worker = cluster.fork(environment);
    this.ended = new Promise((resolve) => {
      // A process that could not be started has no exit.
      this.#worker.once('error', (error) => resolve({ how: error.message, isOrdered: false, failure: undefined }));
      this.#worker.once('exit', (code, signal) => {
        this.hasEnded = true;
        for (const answer of this.#pending.values()) answer(undefined);
        const how = this.#killedFor ?? (signal ? `signal ${signal}` : `exit code ${code}`);
        resolve({ how, isOrdered: this.isReady && code === 0, failure: this.#failure });
      });
    });
    this.#worker.on('message', (message: FromWorker) => this.#hear(message));
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  send(message: ToWorker): void {
    // It may end at any time, and its end is reported separately.
    if (this.#early !== undefined) this.#early.push(message);
    else if (this.#worker.isConnected()) this.#worker.send(message, undefined, () => {});
  }

  /** @returns undefined if it does not answer in time */
  ask<Q extends WorkerQuestion>(
    about: Q,
    of?: ConnectionQuestion,
    withinMs = ANSWER_WITHIN_MS,
  ): Promise<Answers[Q] | undefined> {
    if (this.hasEnded || !this.hasJoined) return Promise.resolve(undefined);
    this.#questions += 1;
    const id = this.#questions;
    return new Promise((resolve) => {
      const answer = (given: unknown) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(given as Answers[Q] | undefined);
      };
      const timer = setTimeout(() => answer(undefined), withinMs);
      this.#pending.set(id, answer);
      this.send({ kind: 'question', id, about, of });
    });
  }

  askForOwner(question: ConnectionQuestion): Promise<SessionId | undefined> {
    return this.ask('owner', question, OWNER_WITHIN_MS);
  }

  /** @returns whether it ended in time (WPR2) */
  async end(withinMs: number): Promise<boolean> {
    this.isEnding = true;
    // It has no session, and no shard to hand over.
    if (!this.hasJoined) this.kill();
    this.send({ kind: 'stop' });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.kill();
    }, withinMs);
    await this.ended;
    clearTimeout(timer);
    return !isLate;
  }

  /** @param reason  for the log; without one, the signal */
  kill(reason?: string): void {
    this.#killedFor ??= reason;
    this.#worker.process.kill('SIGKILL');
  }

  #listens(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.send(message);
    // If it fails, the supervisor ends.
    void this.start.then((start) => this.send({ kind: 'begin', number: this.number, ...start })).catch(() => {});
  }

  async #listen(port: PortRequest): Promise<void> {
    const { key } = port;
    try {
      this.send({ kind: 'listening', key, port: await this.listener.listen(this, port) });
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.send({ kind: 'not-listening', key, code, message });
    }
  }

  #hear(message: FromWorker): void {
    switch (message.kind) {
      case 'hello':
        this.#listens();
        return;
      case 'joined':
        this.session = { process: message.process, session: message.session };
        this.hasJoined = true;
        this.listener.joined(this);
        return;
      case 'ready':
        this.isReady = true;
        this.#onReady({ addresses: message.addresses, credentials: message.credentials });
        return;
      case 'failed':
        this.#failure = new MillraceError(message.code as MillraceError['code'], message.message);
        return;
      case 'rebuild':
        this.listener.rebuild(message.model);
        return;
      case 'listen':
        void this.#listen(message.port);
        return;
      case 'got':
        this.line.received();
        return;
      case 'leave':
        this.listener.leave(this, message.key);
        this.send({ kind: 'left', key: message.key });
        return;
      case 'answer':
        this.#pending.get(message.id)?.(message.answer);
        return;
      case 'report':
        this.silentMs = 0;
        this.line.haveEnded(message.ended ?? {});
    }
  }
}
