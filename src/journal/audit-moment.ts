/** How entries stand to a moment of their shard's past. */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Moment } from '../messages/index.js';

export function isBefore(position: number, clockMs: number, moment: Moment): boolean {
  return moment.kind === 'position' ? position < moment.position : clockMs < moment.atMs;
}

export function isAfter(position: number, clockMs: number, moment: Moment): boolean {
  return moment.kind === 'position' ? position > moment.position : clockMs > moment.atMs;
}

/** What is kept of a shard does not reach back as far as it was asked for. */
export function tooEarly(shard: ShardName, reason: string): MillraceError {
  return new MillraceError('INVALID', `${shard}: earlier than what is kept: ${reason}`, { shard });
}
