/** What can take part in a union, an intersection, a difference: sorted sets, and plain sets with score 1. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Value } from '../../keyspace.js';
import { ERRORS } from '../../reply.js';
import { SetValue } from '../../types/set-value.js';
import { SortedSet } from '../../types/sorted-set.js';

export interface Source extends Iterable<readonly [ByteString, number]> {
  readonly size: number;
  scoreOf(member: ByteString): number | undefined;
}

/** A key that is not there. */
export const NO_SOURCE: Source = {
  size: 0,
  scoreOf: () => undefined,
  [Symbol.iterator]: () => [][Symbol.iterator](),
};

/** The score a member of a plain set has. */
const PLAIN_SCORE = 1;

/** @throws WRONGTYPE */
export function sourceOf(value: Value | undefined): Source {
  if (value === undefined) return NO_SOURCE;
  if (value instanceof SortedSet) return value;
  if (value instanceof SetValue) return plain(value);
  throw ERRORS.wrongType;
}

function plain(set: SetValue): Source {
  return {
    size: set.size,
    scoreOf: (member) => (set.has(member) ? PLAIN_SCORE : undefined),
    *[Symbol.iterator]() {
      for (const member of set.members()) yield [member, PLAIN_SCORE] as const;
    },
  };
}
