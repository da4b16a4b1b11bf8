/** The way from the owners of a database to those of this process's clients who listen to it. */
import type { ByteString, SessionId } from '../kernel/index.js';
import type { KvEvent, KvListenKind } from '../messages/index.js';
import type { KvGrant } from './access.js';

export interface KvSubscription {
  /** From the moment it returns nothing more arrives. */
  stop(): void;
}

export interface KvEvents {
  /** Names this process towards owners; `KvRequest.trackFor`. */
  readonly edge: SessionId;
  /**
   * Resolves once the owner knows: whatever is published from then on arrives, in order per channel, for as
   * long as the owner lives; during a takeover messages can be lost, as they are in Redis.
   * `name`: a channel or a pattern; empty for `monitor`; for `invalidation` empty (keys read with `trackFor`) or
   * `*` (every change; both kinds arrive at every listener of `invalidation`).
   * After a takeover listeners of `invalidation` hear that everything may have changed.
   * @throws MillraceError as the gateway does, when the owner cannot be told
   */
  subscribe(
    grant: Pick<KvGrant, 'database' | 'partitions'>,
    kind: KvListenKind,
    name: ByteString,
    onEvent: (event: KvEvent) => void,
  ): Promise<KvSubscription>;
}
