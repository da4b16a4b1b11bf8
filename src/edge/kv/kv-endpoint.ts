/** The parts of the REST endpoint: ports from outside, and objects that its files share. */
import type { Access, Broadcasts, KvEvents, KvGateway, KvMeter, Quota } from '../../ports/index.js';
import type { AclCommands } from '../acl/index.js';
import { BroadcastQueue } from '../broadcast-queue.js';
import { Endpoint, type EndpointParts } from '../http/endpoint.js';
import { type AliasWords, HeaderAliases } from '../wire-alias.js';
import { Cors } from './cors.js';
import type { KvEndpointLimits } from './kv-limits.js';

export interface KvEndpointParts extends EndpointParts<KvEndpointLimits> {
  readonly gateway: KvGateway;
  readonly events: KvEvents;
  readonly access: Access;
  readonly quota: Quota;
  readonly meter: KvMeter;
  /** Shared with other endpoints of the process. Default: its own queue. */
  readonly broadcasts?: Broadcasts | undefined;
  readonly aliases: readonly AliasWords[];
  /** Answers ACL commands; without it only the built-in users exist. */
  readonly users?: AclCommands | undefined;
}

export class KvEndpoint extends Endpoint<KvEndpointParts> {
  readonly spellings: HeaderAliases;
  readonly cors: Cors;
  readonly broadcasts: Broadcasts;

  constructor(parts: KvEndpointParts) {
    super('kv', parts);
    this.broadcasts = parts.broadcasts ?? new BroadcastQueue(parts.clock, parts.timers);
    this.spellings = new HeaderAliases(parts.aliases);
    this.cors = new Cors(this.spellings);
  }
}
