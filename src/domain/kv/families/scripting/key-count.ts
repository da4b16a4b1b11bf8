/** The number of keys that scripts and functions are given before their arguments. */
import type { Args } from '../../args.js';
import { ErrorReply } from '../../reply.js';

const TOO_MANY = new ErrorReply("ERR Number of keys can't be greater than number of args");
const NEGATIVE = new ErrorReply("ERR Number of keys can't be negative");

/** At word 2. @throws ErrorReply; `notANumber` instead of Redis's usual text */
export function keyCount(args: Args, notANumber?: ErrorReply): number {
  let count: number;
  try {
    count = args.offset(2);
  } catch (problem) {
    throw notANumber ?? problem;
  }
  if (count > args.length - 3) throw TOO_MANY;
  if (count < 0) throw NEGATIVE;
  return count;
}
