/**
 * Messages between processes that are not stored: commands to an owner, replies, heartbeats. At most once. Payloads of
 * any size up to `limits.busMessageBytes`; the adapter splits and joins large ones.
 */
import type { SessionId, ShardName } from '../kernel/index.js';
import type { Subscription } from './journal.js';

export type Topic =
  /** Commands for the owner of a shard. */
  | { readonly kind: 'command'; readonly shard: ShardName }
  /** Requests to one process about itself; it is named by its first session. */
  | { readonly kind: 'session'; readonly session: SessionId }
  /** Events for the clients of one process. */
  | { readonly kind: 'edge'; readonly session: SessionId }
  /** Heard by everyone. */
  | { readonly kind: 'heartbeat' }
  /** Requests to the read models, for any process that has them. */
  | { readonly kind: 'query' }
  /** Requests to the search indexes, for any process that has them. */
  | { readonly kind: 'search' }
  /** A request to the owner of the control shard: the position of the last change of grants. */
  | { readonly kind: 'access' }
  /** A notice about a shard to all processes. */
  | { readonly kind: 'notice'; readonly shard: ShardName };

/** The place where processes of the same machine reach a process directly; told in its heartbeats. */
export interface NeighbourAddress {
  /** Differs between machines. */
  readonly machine: string;
  /** Of the process; differs after each start. */
  readonly name: string;
  /** Of a Unix socket. */
  readonly path: string;
  /** Shown by callers. */
  readonly secret: Uint8Array;
}

/**
 * all: every process that serves the topic receives the request; the first answer counts.
 * one: the request may go to a single one of them, which is cheaper. One that is not answered has to be repeated with
 * `all`, because another process may have taken over.
 */
export type Reach = 'one' | 'all';

/** A served topic. */
export interface ServedTopic extends Subscription {
  /** Requests to a single process do not come here any more, because another process takes over. */
  yield(): void;
}

export interface Bus {
  publish(topic: Topic, payload: Uint8Array): void;
  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription;
  /**
   * @throws SHARD_UNAVAILABLE with `isUnserved` when the topic has no server (certainly not received),
   *         TIMED_OUT when no answer came (it may have been received)
   * @param reach  `all` by default
   */
  request(topic: Topic, payload: Uint8Array, timeoutMs: number, reach?: Reach): Promise<Uint8Array>;
  serve(topic: Topic, onRequest: (payload: Uint8Array) => Promise<Uint8Array>): ServedTopic;
  /** False while the connection is down: silence then gives no information about other processes. */
  isConnected(): boolean;
  /** Undefined: processes of this machine do not reach this one directly. */
  readonly address?: NeighbourAddress | undefined;
  /** Another process was heard at this address. */
  meet?(address: NeighbourAddress): void;
}
