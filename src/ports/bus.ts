/**
 * Messages between processes that nobody stores: commands to an owner, replies, heartbeats.
 * At most once. Payloads of any size up to `limits.busMessageBytes`; the adapter splits what is too
 * large for one message and joins it again.
 */
import type { SessionId, ShardName } from '../kernel/index.js';
import type { Subscription } from './journal.js';

export type Topic =
  /** Commands for the owner of a shard. */
  | { readonly kind: 'command'; readonly shard: ShardName }
  /** Questions to one process about itself; it is named by its first session. */
  | { readonly kind: 'session'; readonly session: SessionId }
  /** What the clients of one process listen to. */
  | { readonly kind: 'edge'; readonly session: SessionId }
  /** Heard by everyone. */
  | { readonly kind: 'heartbeat' }
  /** Questions to the read models, for any process that keeps them. */
  | { readonly kind: 'query' }
  /** Questions to the search indexes, for any process that keeps them. */
  | { readonly kind: 'search' }
  /** Asked of the owner of the control shard: how far changes of who may do what go. */
  | { readonly kind: 'access' }
  /** Something about a shard that every process may want to know at once. */
  | { readonly kind: 'notice'; readonly shard: ShardName };

export interface Bus {
  publish(topic: Topic, payload: Uint8Array): void;
  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription;
  /**
   * @throws SHARD_UNAVAILABLE with `isUnserved` when nobody serves the topic (surely not received),
   *         TIMED_OUT when no answer came (it may have been received)
   */
  request(topic: Topic, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  serve(topic: Topic, onRequest: (payload: Uint8Array) => Promise<Uint8Array>): Subscription;
  /** False while the connection is down: silence then says nothing about anybody else. */
  isConnected(): boolean;
}
