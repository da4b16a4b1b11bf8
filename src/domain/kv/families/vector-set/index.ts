/** The family of vector sets of Redis 8: elements with vectors and attributes under one key. */

import { VECTOR_SETS_FORMAT_LEVEL } from '../../../../kernel/index.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import { DELETES, family, GROWS, READS, READS_FAST, row, VARIES, WRITES } from '../rows.js';
import {
  attributes,
  count,
  dimension,
  embedding,
  info,
  isLongSet,
  isMember,
  links,
  randomMembers,
  range,
} from './read.js';
import { similar } from './similar.js';
import { add, record, remove, setAttributes } from './write.js';

export const VECTOR_SET: readonly CommandSpec[] = family(
  'vector-set',
  [
    row('VADD', -5, '8.0.0', 'Adds an element with a vector to a vector set, or replaces its vector.', {
      ...GROWS,
      keyUse: ['RW update'],
      handler: add,
      deviations: [
        'CAS, EF and M do not change the graph, which has 16 links of a node. REDUCE projects with the same signs in every set.',
        'A set ends at 100 MB: beyond it `max single record size exceeded`.',
      ],
    }),
    row('VCARD', 2, '8.0.0', 'Returns the number of elements of a vector set.', { ...READS_FAST, handler: count }),
    row('VDIM', 2, '8.0.0', 'Returns the dimension of the vectors of a vector set.', {
      ...READS_FAST,
      handler: dimension,
    }),
    row('VEMB', -3, '8.0.0', 'Returns the vector of an element.', {
      ...READS,
      handler: embedding,
      deviations: ['With BIN the length of a vector is not kept: RAW shows that of its signs.'],
    }),
    row('VGETATTR', 3, '8.0.0', 'Returns the JSON attributes of an element.', { ...READS, handler: attributes }),
    row('VINFO', 2, '8.0.0', 'Describes a vector set.', {
      ...READS_FAST,
      handler: info,
      deviations: ['`vset-uid` is always 0.'],
    }),
    row('VISMEMBER', 3, '8.2.0', 'Tells whether an element is in a vector set.', { ...READS, handler: isMember }),
    row('VLINKS', -3, '8.0.0', 'Returns the elements that the graph links to an element, by level.', {
      ...READS,
      ...inSlices(links, isLongSet),
      deviations: ['Below 10,000 elements there is no graph: the answer is one level with the nearest elements.'],
    }),
    row('VRANDMEMBER', -2, '8.0.0', 'Returns elements of a vector set at random.', {
      ...READS,
      tips: VARIES,
      ...inSlices(randomMembers, isLongSet),
    }),
    row('VRANGE', -4, '8.4.0', 'Returns elements between two texts, in order.', {
      ...READS,
      ...inSlices(range, isLongSet),
    }),
    row('VREM', 3, '8.0.0', 'Removes an element from a vector set.', { ...DELETES, handler: remove }),
    row('VSETATTR', 4, '8.0.0', 'Sets or removes the JSON attributes of an element.', {
      ...GROWS,
      keyUse: ['RW update'],
      handler: setAttributes,
    }),
    row('VSIM', -4, '8.0.0', 'Returns the elements that are nearest to a vector or to an element.', {
      ...READS,
      ...inSlices(similar, isLongSet),
      deviations: [
        'A filter finds as many elements as exist: FILTER-EF does not end the search. `in` also finds a text in a text. Below 10,000 elements, and with TRUTH, all vectors are compared.',
      ],
    }),
  ],
  VECTOR_SETS_FORMAT_LEVEL,
);

/** Effects of VADD that only run in replay. */
export const VECTOR_SET_EFFECTS: readonly CommandSpec[] = family('vector-set', [
  row('VRECORD', 9, '', 'Makes an element of a vector set as it was.', { ...WRITES, handler: record }),
]);
