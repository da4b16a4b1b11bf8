/** Subscriptions of this process's clients to events of a database's owners. */
import type { ByteString, SessionId } from '../kernel/index.js';
import type { KvEvent, KvListenKind } from '../protocol/index.js';
import type { KvGrant } from './access.js';

export interface KvSubscription {
  /** After it returns no more events arrive. */
  stop(): void;
}

export interface KvEvents {
  /** The id of this process for owners; `KvRequest.trackFor`. */
  readonly edge: SessionId;
  /**
   * Resolves once the owner knows the subscription: everything published from then on arrives, in order per channel,
   * while the owner lives; during a takeover messages can be lost, as in Redis.
   * `name`: a channel or a pattern; empty for `monitor`; for `invalidation` empty (keys read with `trackFor`) or
   * `*` (every change; both kinds arrive at every listener of `invalidation`).
   * After a takeover listeners of `invalidation` are told that everything may have changed.
   * @throws MillraceError as the gateway does, when the owner cannot be reached
   */
  subscribe(
    grant: Pick<KvGrant, 'database' | 'partitions'>,
    kind: KvListenKind,
    name: ByteString,
    onEvent: (event: KvEvent) => void,
  ): Promise<KvSubscription>;
}
