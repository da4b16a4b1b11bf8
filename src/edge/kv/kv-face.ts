/** What the key-value face is made of: ports from outside, and the few things its parts share. */
import type { Access, Clock, KvEvents, KvGateway, Log, Meter, Quota, Timers } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { type AliasWords, WireSpellings } from '../wire-alias.js';
import { Cors } from './cors.js';
import type { AnswerContext } from './exchange.js';
import type { KvFaceLimits } from './kv-limits.js';

export interface KvFaceParts {
  readonly gateway: KvGateway;
  readonly events: KvEvents;
  readonly access: Access;
  readonly quota: Quota;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly limits: KvFaceLimits;
  readonly aliases: readonly AliasWords[];
  /** Answers the ACL family; without it there are no users but the built-in ones. */
  readonly users?: AclCommands | undefined;
}

export class KvFace {
  readonly gateway: KvGateway;
  readonly access: Access;
  readonly quota: Quota;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: KvFaceLimits;
  readonly spellings: WireSpellings;
  readonly cors: Cors;
  readonly answers: AnswerContext;
  readonly events: KvEvents;
  readonly timers: Timers;
  readonly users: AclCommands | undefined;
  #incidents = 0;

  constructor(parts: KvFaceParts) {
    this.gateway = parts.gateway;
    this.events = parts.events;
    this.timers = parts.timers;
    this.users = parts.users;
    this.access = parts.access;
    this.quota = parts.quota;
    this.meter = parts.meter;
    this.clock = parts.clock;
    this.log = parts.log;
    this.limits = parts.limits;
    this.spellings = new WireSpellings(parts.aliases);
    this.cors = new Cors(this.spellings);
    this.answers = { cors: this.cors, isDraining: false };
  }

  /** Names one failure of ours in the log and in the answer. */
  nextIncidentId(): string {
    this.#incidents += 1;
    return `${Math.trunc(this.clock.nowMs()).toString(36)}-${this.#incidents}`;
  }
}
