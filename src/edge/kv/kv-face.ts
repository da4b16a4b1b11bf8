/** What the key-value face is made of: ports from outside, and the few things its parts share. */
import type { Access, Broadcasts, KvEvents, KvGateway, KvMeter, Quota } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { BroadcastQueue } from '../broadcast-queue.js';
import { Face, type FaceParts } from '../http/face.js';
import { type AliasWords, WireSpellings } from '../wire-alias.js';
import { Cors } from './cors.js';
import type { KvFaceLimits } from './kv-limits.js';

export interface KvFaceParts extends FaceParts<KvFaceLimits> {
  readonly gateway: KvGateway;
  readonly events: KvEvents;
  readonly access: Access;
  readonly quota: Quota;
  readonly meter: KvMeter;
  /** Shared with other faces of the process; left out: one of its own. */
  readonly broadcasts?: Broadcasts | undefined;
  readonly aliases: readonly AliasWords[];
  /** Answers the ACL family; without it there are no users but the built-in ones. */
  readonly users?: AclCommands | undefined;
}

export class KvFace extends Face<KvFaceParts> {
  readonly spellings: WireSpellings;
  readonly cors: Cors;
  readonly broadcasts: Broadcasts;

  constructor(parts: KvFaceParts) {
    super('kv', parts);
    this.broadcasts = parts.broadcasts ?? new BroadcastQueue(parts.clock, parts.timers);
    this.spellings = new WireSpellings(parts.aliases);
    this.cors = new Cors(this.spellings);
  }
}
