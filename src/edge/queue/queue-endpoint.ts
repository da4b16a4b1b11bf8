/** The parts of the queue endpoint: ports from outside, and objects that its files share. */
import type { HttpOut, MessageLog, QueueAccess, QueueAdmin, QueueGateway, Random, RunLog } from '../../ports/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Endpoint, type EndpointParts } from '../http/endpoint.js';
import { type AliasWords, HeaderAliases } from '../wire-alias.js';
import type { QueueEndpointLimits } from './queue-limits.js';

export interface QueueEndpointParts extends EndpointParts<QueueEndpointLimits> {
  readonly gateway: QueueGateway;
  readonly access: QueueAccess;
  readonly admin: QueueAdmin;
  readonly messageLog: MessageLog;
  readonly runLog: RunLog;
  /** Checks the text of destinations when a message is accepted. */
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  readonly random: Random;
  readonly aliases: readonly AliasWords[];
  /** The base URL of webhooks for third parties; undefined: the URL of each request. */
  readonly publicUrl?: string | undefined;
  /** The level of stored formats that the installation writes. */
  formatLevel(): number;
}

export class QueueEndpoint extends Endpoint<QueueEndpointParts> {
  readonly spellings: HeaderAliases;
  readonly bursts: BurstLimiter;

  constructor(parts: QueueEndpointParts) {
    super('queue', parts);
    this.spellings = new HeaderAliases(parts.aliases);
    this.bursts = new BurstLimiter(parts.clock);
  }

  /** Lets other work run first. */
  yieldToEventLoop(): Promise<void> {
    return this.parts.timers.yieldToEventLoop();
  }
}
