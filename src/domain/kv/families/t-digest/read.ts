/** Questions to t-digests. */
import type { Args } from '../../args.js';
import type { CommandContext, Handler, SlicedHandler } from '../../command-spec.js';
import { DoubleReply, ErrorReply, MapReply, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import { TDigest } from '../../types/sketch/t-digest.js';
import { quantileOf, shareBelow, trimmedMean } from '../../types/sketch/t-digest-centroids.js';
import { readCount, readFloat } from '../sketches.js';
import { noKey } from './write.js';

const badQuantile = new ErrorReply('ERR T-Digest: error parsing quantile');
const quantileOutOfRange = new ErrorReply('ERR T-Digest: quantile should be in [0,1]');
const badShare = new ErrorReply('ERR T-Digest: error parsing cdf');
const badValue = new ErrorReply('ERR T-Digest: error parsing value');
const badRank = new ErrorReply('ERR T-Digest: error parsing rank');
const negativeRank = new ErrorReply('ERR T-Digest: rank needs to be non negative');
const badLowCut = new ErrorReply('ERR T-Digest: error parsing low_cut_percentile');
const badHighCut = new ErrorReply('ERR T-Digest: error parsing high_cut_percentile');
const cutsOutOfRange = new ErrorReply('ERR T-Digest: low_cut_percentile and high_cut_percentile should be in [0,1]');
const cutsNotInOrder = new ErrorReply('ERR T-Digest: low_cut_percentile should be lower than high_cut_percentile');
/** Ranks of a digest without values. */
const NO_VALUES = -2;
/** Questions, each of which may look at all centroids, between two pauses. */
const SLICE_QUESTIONS = 10;

function digestIn({ args, keyspace }: CommandContext): TDigest {
  const digest = keyspace.peekKind(args.bytes(1), TDigest);
  if (digest === undefined) throw noKey;
  return digest;
}

/** Answers for each of the words from the third on; all are read before the first answer. */
function each(
  read: (args: Args, at: number) => number,
  answer: (digest: TDigest, given: number) => Reply,
): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    const digest = digestIn(context);
    const given: number[] = [];
    for (let at = 2; at < context.args.length; at += 1) given.push(read(context.args, at));
    const pace = new SlicePace(SLICE_QUESTIONS);
    const answers: Reply[] = [];
    for (const value of given) {
      answers.push(answer(digest, value));
      if (pace.isDue()) yield;
    }
    return answers;
  };
}

/** TDIGEST.MIN, TDIGEST.MAX key → the value; NaN without values. */
export function extreme(which: 'min' | 'max'): Handler {
  return (context) => {
    const digest = digestIn(context);
    return new DoubleReply(digest.size === 0 ? Number.NaN : digest[which]);
  };
}

/** TDIGEST.QUANTILE key quantile … → values. */
export const quantiles = each(
  (args, at) => {
    const quantile = readFloat(args, at, badQuantile);
    if (!(quantile >= 0 && quantile <= 1)) throw quantileOutOfRange;
    return quantile;
  },
  (digest, quantile) => new DoubleReply(quantileOf(digest.centroids(), quantile)),
);

/** TDIGEST.CDF key value … → shares. */
export const shares = each(
  (args, at) => readFloat(args, at, badShare),
  (digest, value) => new DoubleReply(shareBelow(digest.centroids(), value)),
);

/** TDIGEST.RANK, TDIGEST.REVRANK key value … → ranks; -1 and the number of values outside of all values. */
export function ranks(isReversed: boolean): SlicedHandler {
  return each(
    (args, at) => readFloat(args, at, badValue),
    (digest, value) => {
      const { size, min, max } = digest;
      if (size === 0) return NO_VALUES;
      if (value < min) return isReversed ? size : -1;
      if (value > max) return isReversed ? -1 : size;
      const below = shareBelow(digest.centroids(), value) * size;
      // Half of the equal values count; an odd half is rounded towards the start of the order.
      return isReversed ? Math.round(size - Math.round(below)) : Math.ceil(below - 0.5);
    },
  );
}

/** TDIGEST.BYRANK, TDIGEST.BYREVRANK key rank … → values; infinite beyond all values. */
export function byRank(isReversed: boolean): SlicedHandler {
  return each(
    (args, at) => {
      const rank = readCount(args, at, Number.MIN_SAFE_INTEGER, badRank);
      if (rank < 0) throw negativeRank;
      return rank;
    },
    (digest, rank) => {
      const { size, min, max } = digest;
      if (size === 0) return new DoubleReply(Number.NaN);
      if (rank === 0) return new DoubleReply(isReversed ? max : min);
      if (rank >= size) return new DoubleReply(isReversed ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
      return new DoubleReply(quantileOf(digest.centroids(), (isReversed ? size - rank - 1 : rank) / size));
    },
  );
}

/** TDIGEST.TRIMMED_MEAN key low high → the mean of the values between these quantiles. */
export const trimmed: Handler = (context) => {
  const digest = digestIn(context);
  const low = readFloat(context.args, 2, badLowCut);
  const high = readFloat(context.args, 3, badHighCut);
  if (!(low >= 0 && low <= 1 && high >= 0 && high <= 1)) throw cutsOutOfRange;
  if (low >= high) throw cutsNotInOrder;
  return new DoubleReply(trimmedMean(digest.centroids(), low, high));
};

/** TDIGEST.INFO key → a map. */
export const describe: Handler = (context) => {
  const digest = digestIn(context);
  return new MapReply([
    ...['Compression', digest.compression],
    ...['Capacity', digest.means.length],
    ...['Merged nodes', digest.merged],
    ...['Unmerged nodes', digest.unmerged],
    ...['Merged weight', digest.mergedWeight],
    ...['Unmerged weight', digest.unmergedWeight],
    ...['Observations', digest.size],
    ...['Total compressions', digest.compressions],
    ...['Memory usage', digest.bytes],
  ]);
};
