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

export interface Bus {
  publish(topic: Topic, payload: Uint8Array): void;
  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription;
  /**
   * @throws SHARD_UNAVAILABLE with `isUnserved` when the topic has no server (certainly not received),
   *         TIMED_OUT when no answer came (it may have been received)
   */
  request(topic: Topic, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  serve(topic: Topic, onRequest: (payload: Uint8Array) => Promise<Uint8Array>): Subscription;
  /** False while the connection is down: silence then gives no information about other processes. */
  isConnected(): boolean;
}
