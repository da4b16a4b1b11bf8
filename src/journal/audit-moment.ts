/** Moments of a shard's past: what an operator names, and how entries stand to it. */
import { MillraceError, type ShardName } from '../kernel/index.js';

/** A position of a shard's journal, or an instant of its clock. What stands right there belongs to it. */
export type Moment =
  | { readonly kind: 'position'; readonly position: number }
  | { readonly kind: 'time'; readonly atMs: number };

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
