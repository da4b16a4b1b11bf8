/** What the queue's face is made of: ports from outside, and the few things its parts share. */
import { ByteBudget } from '../../kernel/index.js';
import type {
  Clock,
  HttpOut,
  Log,
  MessageLog,
  QueueAccess,
  QueueAdmin,
  QueueGateway,
  Random,
  RunLog,
  Timers,
} from '../../ports/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Incidents } from '../http/incidents.js';
import { ClientAddresses, type ProxyRange } from '../http/index.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';
import { type AliasWords, WireSpellings } from '../wire-alias.js';
import type { QueueFaceLimits } from './queue-limits.js';

export interface QueueFaceParts {
  readonly gateway: QueueGateway;
  readonly access: QueueAccess;
  readonly admin: QueueAdmin;
  readonly messageLog: MessageLog;
  readonly runLog: RunLog;
  /** Judges destinations by their text when a message is accepted. */
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly limits: QueueFaceLimits;
  readonly aliases: readonly AliasWords[];
  readonly trustedProxies: readonly ProxyRange[];
  /** Left out: what requests hold has no bound. */
  readonly budget?: ByteBudget | undefined;
  /** Left out: guessing is neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  /** What third parties call this face by; undefined: what each of them did. */
  readonly publicUrl?: string | undefined;
}

export class QueueFace {
  readonly spellings: WireSpellings;
  readonly addresses: ClientAddresses;
  readonly bursts: BurstLimiter;
  /** Set while draining: every answer is its connection's last. */
  isDraining = false;
  readonly incidents: Incidents;
  readonly budget: ByteBudget;
  readonly signIns: SignIns;

  constructor(readonly parts: QueueFaceParts) {
    this.spellings = new WireSpellings(parts.aliases);
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies);
    this.budget = parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.bursts = new BurstLimiter(parts.clock);
    this.incidents = new Incidents('queue', parts);
  }

  /** Lets whatever else is ready run first. */
  breathe(): Promise<void> {
    return this.parts.timers.breathe();
  }
}
