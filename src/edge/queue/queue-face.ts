/** What the queue's face is made of: ports from outside, and the few things its parts share. */
import type { HttpOut, MessageLog, QueueAccess, QueueAdmin, QueueGateway, Random, RunLog } from '../../ports/index.js';
import { BurstLimiter } from '../http/burst-limiter.js';
import { Face, type FaceParts } from '../http/face.js';
import { type AliasWords, WireSpellings } from '../wire-alias.js';
import type { QueueFaceLimits } from './queue-limits.js';

export interface QueueFaceParts extends FaceParts<QueueFaceLimits> {
  readonly gateway: QueueGateway;
  readonly access: QueueAccess;
  readonly admin: QueueAdmin;
  readonly messageLog: MessageLog;
  readonly runLog: RunLog;
  /** Judges destinations by their text when a message is accepted. */
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  readonly random: Random;
  readonly aliases: readonly AliasWords[];
  /** What third parties call this face by; undefined: what each of them did. */
  readonly publicUrl?: string | undefined;
}

export class QueueFace extends Face<QueueFaceParts> {
  readonly spellings: WireSpellings;
  readonly bursts: BurstLimiter;

  constructor(parts: QueueFaceParts) {
    super('queue', parts);
    this.spellings = new WireSpellings(parts.aliases);
    this.bursts = new BurstLimiter(parts.clock);
  }

  /** Lets whatever else is ready run first. */
  breathe(): Promise<void> {
    return this.parts.timers.breathe();
  }
}
