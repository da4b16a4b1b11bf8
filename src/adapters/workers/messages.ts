/**
 * The messages between the supervisor and its workers. After a reload they can be of different releases: fields and
 * kinds are only added, and a receiver ignores kinds that it does not know.
 */
import type { SessionId } from '../../kernel/index.js';
import type { Check, Listening, ReadModelCare } from '../../ports/index.js';
import type { NatsOptions } from '../nats/index.js';
import type { ReadEndpoint } from './first-bytes.js';

/** The first message to a worker. */
export interface WorkerStart {
  /** From 1; a replaced worker has the number of the former one. */
  readonly number: number;
  /** The name by which its shards are placed, and how many workers were started before it. Unknown to older supervisors. */
  readonly place?: { readonly name: string; readonly turn: number } | undefined;
  /** How to reach the embedded nats-server; undefined: the worker's settings name an external one. */
  readonly nats?: NatsOptions | undefined;
  /** The supervisor accepts connections and gives them to workers; older ones leave that to Node's cluster. */
  readonly givesConnections?: boolean | undefined;
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

/** A port on which a worker accepts connections; equal keys are the same port. */
export interface PortRequest extends Omit<Listening, 'acceptFailed' | 'variable'> {
  readonly key: string;
  /** Connections of this endpoint are given to the owner of their database or account; undefined: all in turn. */
  readonly reads: ReadEndpoint | undefined;
}

/** Asks for the owner of the database or account that a credential is for. */
export interface ConnectionQuestion {
  readonly endpoint: ReadEndpoint;
  /** The `Authorization` header, or the command that signs in. */
  readonly credential: string;
}

export type RebuiltModel = Parameters<ReadModelCare['rebuild']>[0];
export type WorkerQuestion = 'checks' | 'metrics' | 'owner';

export interface Answers {
  /** The session of the owner. */
  readonly owner: SessionId | undefined;
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
  /** `of` belongs to the question about an owner. */
  | {
      readonly kind: 'question';
      readonly id: number;
      readonly about: WorkerQuestion;
      readonly of?: ConnectionQuestion | undefined;
    }
  /** The answer to `listen`: the actual port, or the reason. */
  | { readonly kind: 'listening'; readonly key: string; readonly port: number }
  | { readonly kind: 'not-listening'; readonly key: string; readonly code: string; readonly message: string }
  /** With a socket; the bytes that were read from it are in base64. */
  | { readonly kind: 'connection'; readonly key: string; readonly bytes: string | undefined }
  /** The answer to `leave`: no connection of the port follows. */
  | { readonly kind: 'left'; readonly key: string }
  | { readonly kind: 'stop' };

export type FromWorker =
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'joined' } & WorkerSession)
  | ({ readonly kind: 'ready' } & ReadyWorker)
  /** It cannot start, or cannot continue, and ends. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** For the worker that keeps the read models. */
  | { readonly kind: 'rebuild'; readonly model: RebuiltModel }
  | { readonly kind: 'listen'; readonly port: PortRequest }
  /** It has the socket of the last connection. */
  | { readonly kind: 'got' }
  | { readonly kind: 'leave'; readonly key: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  /**
   * Once a second: its event loop runs. Unknown to older supervisors, and not sent by older workers.
   * `ended` counts the connections that it was given and that have ended, by port.
   */
  | { readonly kind: 'report'; readonly ended?: Readonly<Record<string, number>> | undefined };
