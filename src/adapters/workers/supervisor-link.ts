/**
 * The supervisor, as its worker sees it: a channel that closes when the supervisor ends.
 *
 *  SUL1 a worker ends when its supervisor has ended: Node's cluster exits in that case
 */
import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import { describeError, isMillraceError, type SessionId } from '../../kernel/index.js';
import type { Acceptor } from '../../ports/index.js';
import { GivenConnections } from './given-connections.js';
import type {
  Answers,
  ConnectionQuestion,
  FromWorker,
  ReadyWorker,
  RebuiltModel,
  ToWorker,
  WorkerQuestion,
  WorkerSession,
  WorkerStart,
} from './messages.js';
import { REPORT_EVERY_MS } from './report-watch.js';

type AnswerOf = { readonly [Q in Exclude<WorkerQuestion, 'owner'>]: () => Answers[Q] | Promise<Answers[Q]> };
type FindOwner = (question: ConnectionQuestion) => SessionId | undefined;

export class SupervisorLink {
  /** Resolves when the supervisor asks this worker to end. */
  readonly stopped: Promise<void>;
  readonly #begun: Promise<WorkerStart>;
  readonly #mayGo: Promise<readonly SessionId[]>;
  readonly #onDuty: Promise<void>;
  #answers: AnswerOf | undefined;
  #rebuild: ((model: RebuiltModel) => void) | undefined;
  #isReporting = false;
  #findOwner: FindOwner = () => undefined;
  readonly #connections = new GivenConnections((message) => this.#send(message));

  /** @returns undefined in a process that is no worker */
  static ofThisProcess(): SupervisorLink | undefined {
    return cluster.isWorker ? new SupervisorLink() : undefined;
  }

  private constructor() {
    let onBegin!: (start: WorkerStart) => void;
    let onGo!: (processes: readonly SessionId[]) => void;
    let onDuty!: () => void;
    let onStop!: () => void;
    this.#begun = new Promise((resolve) => {
      onBegin = resolve;
    });
    this.#mayGo = new Promise((resolve) => {
      onGo = resolve;
    });
    this.#onDuty = new Promise((resolve) => {
      onDuty = resolve;
    });
    this.stopped = new Promise((resolve) => {
      onStop = resolve;
    });
    process.on('message', (message: ToWorker, socket: Socket | undefined) => {
      switch (message.kind) {
        case 'begin':
          return onBegin(message);
        case 'go':
          return onGo(message.processes);
        case 'duty':
          return onDuty();
        case 'rebuild':
          return this.#rebuild?.(message.model);
        case 'question':
          return void this.#answer(message);
        case 'stop':
          return onStop();
        default:
          return this.#connections.hear(message, socket);
      }
    });
  }

  /** Reports that this process runs. @returns its part, when the installation is open */
  begin(): Promise<WorkerStart> {
    this.#send({ kind: 'hello' });
    setInterval(() => this.#report(), REPORT_EVERY_MS).unref();
    return this.#begun;
  }

  /** Resolves when all workers that start at the same time have joined. @returns their processes */
  join(session: WorkerSession): Promise<readonly SessionId[]> {
    this.haveSession(session);
    return this.#mayGo;
  }

  haveSession(session: WorkerSession): void {
    this.#send({ kind: 'joined', ...session });
  }

  /** Resolves when this worker is to keep the read models. */
  get onDuty(): Promise<void> {
    return this.#onDuty;
  }

  /** @param rebuild  called in the worker that keeps the read models */
  whenRebuilt(rebuild: (model: RebuiltModel) => void): void {
    this.#rebuild = rebuild;
  }

  /** Has the worker that keeps the read models build one again. */
  rebuild(model: RebuiltModel): void {
    this.#send({ kind: 'rebuild', model });
  }

  answerWith(answers: AnswerOf): void {
    this.#answers = answers;
  }

  /** @param findOwner of the database or account of a new connection */
  findOwnersWith(findOwner: FindOwner): void {
    this.#findOwner = findOwner;
  }

  /** The ports that the workers share. @returns undefined: Node's cluster shares them, for a supervisor of an older release */
  acceptorFor({ givesConnections }: WorkerStart): Acceptor | undefined {
    return givesConnections === true ? this.#connections : undefined;
  }

  ready(facts: ReadyWorker): void {
    this.#send({ kind: 'ready', ...facts });
  }

  /** Resolves when the message is written, so that the process may end. */
  failed(error: unknown): Promise<void> {
    const code = isMillraceError(error) ? error.code : 'DEFECT';
    return new Promise((resolve) => this.#send({ kind: 'failed', code, message: describeError(error) }, resolve));
  }

  /** At most one is on its way to a supervisor that does not read. */
  #report(): void {
    if (this.#isReporting) return;
    this.#isReporting = true;
    this.#send({ kind: 'report', ended: this.#connections.ended }, () => {
      this.#isReporting = false;
    });
  }

  async #answer({ id, about, of }: Extract<ToWorker, { kind: 'question' }>): Promise<void> {
    const answer = about === 'owner' ? of && this.#findOwner(of) : await this.#answers?.[about]();
    this.#send({ kind: 'answer', id, answer });
  }

  /** A supervisor that has ended needs no message: this process ends too (SUL1). */
  #send(message: FromWorker, onSent: () => void = () => {}): void {
    if (process.connected) process.send?.(message, undefined, {}, onSent);
    else onSent();
  }
}
