/** Shared parts of HSCAN and SSCAN: their options, parsed in Redis's order, and the pattern. */
import type { Args } from '../args.js';
import type { CommandContext } from '../command-spec.js';
import { compileGlob, type Glob } from '../glob.js';
import { MAX_SCAN_COUNT } from '../limits.js';
import { ERRORS, ErrorReply } from '../reply.js';

const badCursor = new ErrorReply('ERR invalid cursor');
const noValuesElsewhere = new ErrorReply('ERR NOVALUES option can only be used in HSCAN');
export const DEFAULT_SCAN_COUNT = 10;

export interface CollectionScan {
  readonly glob: Glob | undefined;
  /** At most MAX_SCAN_COUNT. */
  readonly count: number;
  readonly withoutValues: boolean;
}

/** Reads the cursor, by default from word 2. @throws ErrorReply */
export function readCursor(args: Args, index = 2): number {
  const cursor = args.bytes(index);
  if (!/^[0-9]{1,20}$/.test(cursor) || BigInt(cursor) >= 1n << 64n) throw badCursor;
  return Number(cursor);
}

/**
 * [MATCH pattern] [COUNT n] [NOVALUES] from word 3 on. As in Redis, callers parse them only if the collection exists.
 */
export function readCollectionScan({ args }: CommandContext, takesNoValues: boolean): CollectionScan {
  let glob: Glob | undefined;
  let count = DEFAULT_SCAN_COUNT;
  let withoutValues = false;
  for (let i = 3; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'NOVALUES') {
      if (!takesNoValues) throw noValuesElsewhere;
      withoutValues = true;
      continue;
    }
    i += 1;
    const value = args.bytes(i);
    if (option === 'MATCH') glob = compileGlob(value);
    else if (option === 'COUNT') {
      count = args.offset(i);
      if (count < 1) throw ERRORS.syntax;
    } else throw ERRORS.syntax;
  }
  return { glob, count: Math.min(count, MAX_SCAN_COUNT), withoutValues };
}
