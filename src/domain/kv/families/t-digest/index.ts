/** The t-digest family of Redis's module: quantiles and ranks of many values, estimated from some hundred centroids. */
import { SKETCHES_FORMAT_LEVEL } from '../../../../kernel/index.js';
import { counted } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { family, GROWS, INSERTS_FAST, READS, READS_FAST, row, WRITES_FAST } from '../rows.js';
import { byRank, describe, extreme, quantiles, ranks, shares, trimmed } from './read.js';
import { add, create, isLongAdd, merge, reset } from './write.js';

const always = () => true;

export const T_DIGEST: readonly CommandSpec[] = family(
  't-digest',
  [
    row('TDIGEST.ADD', -3, '2.4.0', 'Adds values to a t-digest.', {
      ...GROWS,
      keyUse: ['RW update'],
      ...inSlices(add, isLongAdd),
    }),
    row('TDIGEST.BYRANK', -3, '2.4.0', 'Estimates the values at ranks, lowest first.', {
      ...READS,
      ...inSlices(byRank(false), isLongAdd),
    }),
    row('TDIGEST.BYREVRANK', -3, '2.4.0', 'Estimates the values at ranks, highest first.', {
      ...READS,
      ...inSlices(byRank(true), isLongAdd),
    }),
    row('TDIGEST.CDF', -3, '2.4.0', 'Estimates the shares of values below some values.', {
      ...READS,
      ...inSlices(shares, isLongAdd),
    }),
    row('TDIGEST.CREATE', -2, '2.4.0', 'Makes a t-digest.', {
      ...INSERTS_FAST,
      handler: create,
      deviations: ['COMPRESSION is 10,000 at most.'],
    }),
    row('TDIGEST.INFO', 2, '2.4.0', 'Describes a t-digest.', { ...READS_FAST, handler: describe }),
    row('TDIGEST.MAX', 2, '2.4.0', 'Returns the highest value.', { ...READS_FAST, handler: extreme('max') }),
    row('TDIGEST.MERGE', -4, '2.4.0', 'Merges t-digests into one.', {
      flags: ['write', 'denyoom'],
      keys: counted(2, [1]),
      keyUse: ['RW insert', 'RO access'],
      ...inSlices(merge, always),
      deviations: ['COMPRESSION is 10,000 at most.'],
    }),
    row('TDIGEST.MIN', 2, '2.4.0', 'Returns the lowest value.', { ...READS_FAST, handler: extreme('min') }),
    row('TDIGEST.QUANTILE', -3, '2.4.0', 'Estimates the values below which some shares of the values are.', {
      ...READS,
      ...inSlices(quantiles, isLongAdd),
    }),
    row('TDIGEST.RANK', -3, '2.4.0', 'Estimates how many values are below some values.', {
      ...READS,
      ...inSlices(ranks(false), isLongAdd),
    }),
    row('TDIGEST.RESET', 2, '2.4.0', 'Removes all values of a t-digest.', { ...WRITES_FAST, handler: reset }),
    row('TDIGEST.REVRANK', -3, '2.4.0', 'Estimates how many values are above some values.', {
      ...READS,
      ...inSlices(ranks(true), isLongAdd),
    }),
    row('TDIGEST.TRIMMED_MEAN', 4, '2.4.0', 'Estimates the mean of the values between two quantiles.', {
      ...READS,
      handler: trimmed,
    }),
  ],
  SKETCHES_FORMAT_LEVEL,
);
