/** The Stream family. */

import { PRODUCERS_FORMAT_LEVEL } from '../../../../kernel/index.js';
import { at, found } from '../../command-description.js';
import type { CommandSpec } from '../../command-spec.js';
import { inSlices } from '../../slices.js';
import {
  DELETES,
  DELETES_FAST,
  family,
  GROWS_FAST,
  helpRow,
  INSERTS,
  LOOKS_FAST,
  READS,
  row,
  VARIES,
  WRITES,
  WRITES_FAST,
} from '../rows.js';
import { add, isLongAdd, setId } from './add.js';
import { autoClaim, claim, isLongAutoClaim } from './claim.js';
import { acknowledgeAndRemove, remove, removeByReference } from './delete.js';
import * as groups from './group.js';
import * as info from './info.js';
import { acknowledge, isLongPending, pending } from './pending.js';
import { configure } from './producers.js';
import { isLongRange, length, range } from './range.js';
import { isLongRead, read, readSliced } from './read.js';
import { isLongGroupRead, readGroup, readGroupSliced } from './read-group.js';
import { blockProblem, keysOfRead } from './read-words.js';
import { release } from './release.js';
import { trim } from './trim.js';

const nearlyExact =
  'Over REST `~` trims exactly, up to LIMIT; over the native protocol by whole nodes of an estimated size.';
const forward = range(false);
const backward = range(true);

export const STREAM: readonly CommandSpec[] = family('stream', [
  row('XADD', -5, '5.0.0', 'Adds an entry to a stream, which is made if it is missing, and may trim it.', {
    ...GROWS_FAST,
    tips: VARIES,
    ...inSlices(add, isLongAdd),
    deviations: [nearlyExact, 'IDMP: a stream remembers the messages of the 1,000 producers that wrote last.'],
  }),
  row('XLEN', 2, '5.0.0', 'Returns how many entries a stream has.', { ...LOOKS_FAST, handler: length }),
  row('XRANGE', -4, '5.0.0', 'Returns the entries of a range of ids.', { ...READS, ...inSlices(forward, isLongRange) }),
  row('XREVRANGE', -4, '5.0.0', 'Returns the entries of a range of ids, the last first.', {
    ...READS,
    ...inSlices(backward, isLongRange),
  }),
  row('XREAD', -4, '5.0.0', 'Returns entries above the given ids from several streams, or waits for them.', {
    flags: ['readonly', 'blocking'],
    keys: found(keysOfRead(1), { use: 'RO access', keyword: 'STREAMS', from: 1, last: -1, limit: 2 }),
    restProblem: blockProblem,
    handler: read,
    sliced: readSliced,
    isLong: isLongRead,
    deviations: ['BLOCK is refused over REST, and for more than 4,000 keys.'],
  }),
  row('XCFGSET', -2, '8.6.0', 'Sets how long and how many messages of producers a stream recognises.', {
    ...WRITES_FAST,
    keyUse: ['RW update'],
    handler: configure,
    formatLevel: PRODUCERS_FORMAT_LEVEL,
  }),
  row('XDEL', -3, '5.0.0', 'Deletes entries by id and returns how many there were.', {
    ...DELETES_FAST,
    ...inSlices(remove),
  }),
  row('XDELEX', -5, '8.2.0', 'Deletes entries by id, and optionally their references in consumer groups.', {
    ...DELETES_FAST,
    ...inSlices(removeByReference),
  }),
  row('XTRIM', -4, '5.0.0', 'Removes the oldest entries, down to a length or up to an id.', {
    ...DELETES,
    tips: VARIES,
    ...inSlices(trim, isLongRange),
    deviations: [nearlyExact],
  }),
  row('XSETID', -3, '5.0.0', 'Sets the last id of a stream, and its counters.', { ...GROWS_FAST, handler: setId }),
  row('XGROUP CREATE', -5, '5.0.0', 'Makes a consumer group.', { ...INSERTS, keys: at(2), handler: groups.create }),
  row('XGROUP SETID', -5, '5.0.0', 'Sets the id after which a consumer group continues.', {
    ...WRITES,
    keys: at(2),
    handler: groups.setPosition,
  }),
  row('XGROUP DESTROY', 4, '5.0.0', 'Removes a consumer group.', { ...DELETES, keys: at(2), handler: groups.destroy }),
  row('XGROUP CREATECONSUMER', 5, '6.2.0', 'Makes a consumer of a group.', {
    ...INSERTS,
    keys: at(2),
    handler: groups.createConsumer,
  }),
  row('XGROUP DELCONSUMER', 5, '5.0.0', 'Removes a consumer and its pending entries.', {
    ...DELETES,
    keys: at(2),
    ...inSlices(groups.deleteConsumer, groups.isLongDeletion),
  }),
  helpRow('XGROUP', '5.0.0', groups.XGROUP_HELP, { summary: 'Describes the subcommands of XGROUP.' }),
  row('XREADGROUP', -7, '5.0.0', 'Hands entries of several streams to a consumer of a group, or waits for them.', {
    flags: ['write', 'blocking'],
    keyNeeds: 'read',
    keys: found(keysOfRead(4), { use: 'RO access', keyword: 'STREAMS', from: 4, last: -1, limit: 2 }),
    restProblem: blockProblem,
    handler: readGroup,
    waitsForGroup: true,
    sliced: readGroupSliced,
    isLong: isLongGroupRead,
    deviations: [
      'BLOCK is refused over REST, and for more than 4,000 keys.',
      'Over REST NOACK makes no consumer, and a consumer holds at most 1000 pending entries.',
      'With BLOCK and CLAIM the wait ends without entries when a pending entry becomes idle, and looks at 20,000 of them.',
    ],
  }),
  row('XACK', -4, '5.0.0', 'Acknowledges entries for a group and returns how many were pending.', {
    ...WRITES_FAST,
    ...inSlices(acknowledge),
  }),
  row('XACKDEL', -6, '8.2.0', 'Acknowledges entries for a group and deletes them.', {
    ...WRITES_FAST,
    keyUse: ['RW update delete'],
    ...inSlices(acknowledgeAndRemove),
  }),
  row(
    'XNACK',
    -7,
    '8.8.0',
    'Releases pending entries of a group from their consumers, so that others can claim them.',
    {
      ...WRITES_FAST,
      keyUse: ['RW update'],
      ...inSlices(release),
      formatLevel: PRODUCERS_FORMAT_LEVEL,
      deviations: [
        'FATAL counts 2^53 - 1 deliveries.',
        'DUMP gives released entries to a consumer with an empty name.',
      ],
    },
  ),
  row('XPENDING', -3, '5.0.0', 'Returns the pending entries of a group.', {
    ...READS,
    tips: VARIES,
    ...inSlices(pending, isLongPending),
  }),
  row('XCLAIM', -6, '5.0.0', 'Makes pending entries those of another consumer.', {
    ...WRITES_FAST,
    tips: VARIES,
    ...inSlices(claim),
  }),
  row(
    'XAUTOCLAIM',
    -6,
    '6.2.0',
    'Makes pending entries that have been idle for long those of another consumer, step by step.',
    { ...DELETES_FAST, tips: VARIES, ...inSlices(autoClaim, isLongAutoClaim) },
  ),
  row('XINFO STREAM', -3, '5.0.0', 'Describes a stream, in full if asked.', {
    ...READS,
    keys: at(2),
    ...inSlices(info.stream, info.isLongStreamInfo),
    deviations: [
      'The fields on idempotence are shown for streams with XCFGSET or IDMP; iids-added and iids-duplicates count since the stream was loaded.',
    ],
  }),
  row('XINFO GROUPS', 3, '5.0.0', 'Describes the consumer groups of a stream.', {
    ...READS,
    keys: at(2),
    handler: info.groups,
  }),
  row('XINFO CONSUMERS', 4, '5.0.0', 'Describes the consumers of a group.', {
    ...READS,
    tips: VARIES,
    keys: at(2),
    ...inSlices(info.consumers, info.hasManyConsumers),
  }),
  helpRow('XINFO', '5.0.0', info.XINFO_HELP, { summary: 'Describes the subcommands of XINFO.' }),
]);
