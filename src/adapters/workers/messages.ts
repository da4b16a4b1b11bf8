/**
 * The messages between the supervisor and its workers. After a reload they can be of different releases: fields and
 * kinds are only added, and a receiver ignores kinds that it does not know.
 */
import type { SessionId } from '../../kernel/index.js';
import type { Check, ReadModelCare } from '../../ports/index.js';
import type { NatsOptions } from '../nats/index.js';

/** The first message to a worker. */
export interface WorkerStart {
  /** From 1; a replaced worker has the number of the former one. */
  readonly number: number;
  /** The name by which its shards are placed, and how many workers were started before it. Unknown to older supervisors. */
  readonly place?: { readonly name: string; readonly turn: number } | undefined;
  /** How to reach the embedded nats-server; undefined: the worker's settings name an external one. */
  readonly nats?: NatsOptions | undefined;
  /** It makes the first database, and writes the file of credentials. */
  readonly keepsCredentials: boolean;
}

/** Credentials that the first start generated. */
export interface GeneratedCredentials {
  readonly file: string;
  readonly lines: string;
}

/** The facts about a worker that serves. */
export interface ReadyWorker {
  /** `name=url`, in the order of the ready line. */
  readonly addresses: readonly string[];
  readonly credentials?: GeneratedCredentials | undefined;
}

/** A session and the process that has it; the two differ after a session was lost. */
export interface WorkerSession {
  readonly process: SessionId;
  readonly session: SessionId;
}

export type RebuiltModel = Parameters<ReadModelCare['rebuild']>[0];
export type WorkerQuestion = 'checks' | 'metrics';

export interface Answers {
  readonly checks: Readonly<Record<string, Check>>;
  /** The page in Prometheus' text format. */
  readonly metrics: string;
}

export type ToWorker =
  | ({ readonly kind: 'begin' } & WorkerStart)
  /** The workers that run now, each with its process: once they are heard, shards may be taken. */
  | { readonly kind: 'go'; readonly processes: readonly SessionId[] }
  /** It keeps the read models and search indexes of the installation from now on. */
  | { readonly kind: 'duty' }
  | { readonly kind: 'rebuild'; readonly model: RebuiltModel }
  | { readonly kind: 'question'; readonly id: number; readonly about: WorkerQuestion }
  | { readonly kind: 'stop' };

export type FromWorker =
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'joined' } & WorkerSession)
  | ({ readonly kind: 'ready' } & ReadyWorker)
  /** It cannot start, or cannot continue, and ends. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** For the worker that keeps the read models. */
  | { readonly kind: 'rebuild'; readonly model: RebuiltModel }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  /** Once a second: its event loop runs. Unknown to older supervisors, and not sent by older workers. */
  | { readonly kind: 'report' };
