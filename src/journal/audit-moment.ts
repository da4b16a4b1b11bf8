/** Compares entries with a moment of their shard's past. */
import { MillraceError, type ShardName } from '../kernel/index.js';
import type { Moment } from '../protocol/index.js';

export function isBefore(position: number, clockMs: number, moment: Moment): boolean {
  return moment.kind === 'position' ? position < moment.position : clockMs < moment.atMs;
}

export function isAfter(position: number, clockMs: number, moment: Moment): boolean {
  return moment.kind === 'position' ? position > moment.position : clockMs > moment.atMs;
}

/** The error when the kept history begins after the requested moment. */
export function tooEarly(shard: ShardName, reason: string): MillraceError {
  return new MillraceError('INVALID', `${shard}: earlier than the kept history: ${reason}`, { shard });
}
