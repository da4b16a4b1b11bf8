/** The parts of the queue endpoint: ports from outside, and objects that its files share. */
import type { DeliveredHeaders } from '../../domain/queue/index.js';
import type { AccountId } from '../../kernel/index.js';
import type {
  DeliverySigner,
  HttpOut,
  ManagementControl,
  MessageLog,
  QueueAccess,
  QueueAdmin,
  QueueGateway,
  Random,
  RunLog,
  Sealing,
  TrialRuns,
  Triggers,
  WebhookSecrets,
} from '../../ports/index.js';
import { QUEUE_REFUSALS } from '../error-map.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Endpoint, type EndpointParts } from '../http/endpoint.js';
import { RefusedRequest } from '../http/refused.js';
import { Shares } from '../http/shares.js';
import { type AliasWords, HeaderAliases } from '../wire-alias.js';
import { EventSchemas } from './applications/event-schemas.js';
import { PortalPage, type PortalParts } from './applications/portal-page.js';
import { type QueueEndpointLimits, TRIGGER_FEEDS } from './queue-limits.js';

/** Each holds up to 16 lists of a megabyte. */
const MAX_CHECKS = 4;

/** Bounds the checks of endpoints in this process: each holds the entries of several runs, and calls the endpoint often. */
class ChecksInProgress {
  readonly #accounts = new Set<AccountId>();

  /** An account has one at a time. @throws Refused 429; errors of `work` */
  async within<Result>(account: AccountId, work: () => Promise<Result>): Promise<Result> {
    if (this.#accounts.has(account) || this.#accounts.size >= MAX_CHECKS) {
      throw new RefusedRequest(QUEUE_REFUSALS.checking);
    }
    this.#accounts.add(account);
    try {
      return await work();
    } finally {
      this.#accounts.delete(account);
    }
  }
}

export interface QueueEndpointParts extends EndpointParts<QueueEndpointLimits> {
  readonly gateway: QueueGateway;
  readonly access: QueueAccess;
  readonly admin: QueueAdmin;
  /** For triggers, which are in the control state. */
  readonly control: ManagementControl;
  readonly triggers: Triggers;
  readonly messageLog: MessageLog;
  readonly runLog: RunLog;
  /** Checks the text of destinations when a message is accepted. */
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  /** Makes the calls of checks: deliveries to an endpoint that is not yet in use. */
  readonly deliveries: {
    readonly http: Pick<HttpOut, 'send'>;
    readonly signer: DeliverySigner;
    readonly headers: DeliveredHeaders;
  };
  /** Of endpoints of applications. */
  readonly secrets: WebhookSecrets;
  /** Opens the key file, which seals the links of portals; called when one is needed. */
  readonly sealing: () => Sealing;
  /** Whether a mail server is set. */
  readonly hasMail: boolean;
  readonly portal: PortalParts;
  readonly trials: TrialRuns;
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
  readonly checks = new ChecksInProgress();
  /** Schemas of event types. */
  readonly schemas = new EventSchemas();
  readonly feeds = new Shares(TRIGGER_FEEDS);
  readonly portal: PortalPage;

  constructor(parts: QueueEndpointParts) {
    super('queue', parts);
    this.spellings = new HeaderAliases(parts.aliases);
    this.bursts = new BurstLimiter(parts.clock);
    this.portal = new PortalPage(parts.portal, parts.log, () => this.isDraining);
  }

  /** Lets other work run first. */
  yieldToEventLoop(): Promise<void> {
    return this.parts.timers.yieldToEventLoop();
  }
}
