/** What the key-value face is made of: ports from outside, and the few things its parts share. */
import { ByteBudget } from '../../kernel/index.js';
import type { Access, Broadcasts, Clock, KvEvents, KvGateway, KvMeter, Log, Quota, Timers } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { BroadcastQueue } from '../broadcast-queue.js';
import { Incidents } from '../http/incidents.js';
import { ClientAddresses, type ProxyRange } from '../http/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { type AliasWords, WireSpellings } from '../wire-alias.js';
import { Cors } from './cors.js';
import type { AnswerContext } from './exchange.js';
import type { KvFaceLimits } from './kv-limits.js';

export interface KvFaceParts {
  readonly gateway: KvGateway;
  readonly events: KvEvents;
  readonly access: Access;
  readonly quota: Quota;
  readonly meter: KvMeter;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Shared with other faces of the process; left out: one of its own. */
  readonly broadcasts?: Broadcasts | undefined;
  readonly log: Log;
  readonly limits: KvFaceLimits;
  readonly aliases: readonly AliasWords[];
  /** Whose word counts on who asks; without them the peer is who asks. */
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  /** Left out: what requests hold has no bound. */
  readonly budget?: ByteBudget | undefined;
  /** Answers the ACL family; without it there are no users but the built-in ones. */
  readonly users?: AclCommands | undefined;
}

export class KvFace {
  readonly spellings: WireSpellings;
  readonly cors: Cors;
  readonly answers: AnswerContext;
  readonly signIns: SignIns;
  readonly addresses: ClientAddresses;
  readonly incidents: Incidents;
  readonly budget: ByteBudget;
  readonly broadcasts: Broadcasts;

  constructor(readonly parts: KvFaceParts) {
    this.broadcasts = parts.broadcasts ?? new BroadcastQueue(parts.clock, parts.timers);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    this.incidents = new Incidents('kv', parts);
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.spellings = new WireSpellings(parts.aliases);
    this.cors = new Cors(this.spellings);
    this.answers = { cors: this.cors, isDraining: false };
  }
}
