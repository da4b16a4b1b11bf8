/** The Stream family. */
import { at, type CommandSpec, family, found, inOneGo } from '../../command-spec.js';
import { add, isLongAdd, setId } from './add.js';
import { autoClaim, claim } from './claim.js';
import { acknowledgeAndRemove, remove, removeByReference } from './delete.js';
import * as groups from './group.js';
import * as info from './info.js';
import { acknowledge, pending } from './pending.js';
import { isLongRange, length, range } from './range.js';
import { isLongRead, read, readSliced } from './read.js';
import { readGroup } from './read-group.js';
import { blockProblem, keysOfRead } from './read-words.js';
import { isLongXtrim, trim } from './trim.js';

const write = ['write'] as const;
const writeFast = ['write', 'fast'] as const;
const grow = ['write', 'denyoom'] as const;
const growFast = ['write', 'denyoom', 'fast'] as const;
const readOnly = ['readonly'] as const;
const readFast = ['readonly', 'fast'] as const;

const nearlyExact =
  'Over REST `~` trims exactly, up to LIMIT; over the native protocol by whole nodes whose bytes are estimated.';
const forward = range(false);
const backward = range(true);

export const STREAM: readonly CommandSpec[] = family('stream', [
  {
    name: 'XADD',
    arity: -5,
    flags: growFast,
    keys: at(1),
    handler: inOneGo(add),
    sliced: add,
    isLong: isLongAdd,
    since: '5.0.0',
    summary: 'Adds an entry to a stream, which is made if it is missing, and may trim it.',
    deviations: [nearlyExact, 'The idempotence options of Redis 8.6 are not known.'],
  },
  {
    name: 'XLEN',
    arity: 2,
    flags: readFast,
    keys: at(1),
    handler: length,
    since: '5.0.0',
    summary: 'Returns how many entries a stream has.',
  },
  {
    name: 'XRANGE',
    arity: -4,
    flags: readOnly,
    keys: at(1),
    handler: inOneGo(forward),
    sliced: forward,
    isLong: isLongRange,
    since: '5.0.0',
    summary: 'Returns the entries of a range of ids.',
  },
  {
    name: 'XREVRANGE',
    arity: -4,
    flags: readOnly,
    keys: at(1),
    handler: inOneGo(backward),
    sliced: backward,
    isLong: isLongRange,
    since: '5.0.0',
    summary: 'Returns the entries of a range of ids, the last first.',
  },
  {
    name: 'XREAD',
    arity: -4,
    flags: ['readonly', 'blocking'],
    keys: found(keysOfRead(1)),
    restProblem: blockProblem,
    handler: read,
    sliced: readSliced,
    isLong: isLongRead,
    since: '5.0.0',
    summary: 'Returns entries above the given ids from several streams, or waits for them.',
    deviations: ['BLOCK is refused over REST.'],
  },
  {
    name: 'XDEL',
    arity: -3,
    flags: writeFast,
    keys: at(1),
    handler: remove,
    since: '5.0.0',
    summary: 'Deletes entries by id and returns how many there were.',
  },
  {
    name: 'XDELEX',
    arity: -5,
    flags: writeFast,
    keys: at(1),
    handler: removeByReference,
    since: '8.2.0',
    summary: 'Deletes entries by id, with a say in what consumer groups still refer to.',
  },
  {
    name: 'XTRIM',
    arity: -4,
    flags: write,
    keys: at(1),
    handler: inOneGo(trim),
    sliced: trim,
    isLong: isLongXtrim,
    since: '5.0.0',
    summary: 'Removes the oldest entries, down to a length or up to an id.',
    deviations: [nearlyExact],
  },
  {
    name: 'XSETID',
    arity: -3,
    flags: growFast,
    keys: at(1),
    handler: setId,
    since: '5.0.0',
    summary: 'Sets the last id of a stream, and its counters.',
  },
  {
    name: 'XGROUP CREATE',
    arity: -5,
    flags: grow,
    keys: at(2),
    handler: groups.create,
    since: '5.0.0',
    summary: 'Makes a consumer group.',
  },
  {
    name: 'XGROUP SETID',
    arity: -5,
    flags: write,
    keys: at(2),
    handler: groups.setPosition,
    since: '5.0.0',
    summary: 'Sets the id after which a consumer group goes on.',
  },
  {
    name: 'XGROUP DESTROY',
    arity: 4,
    flags: write,
    keys: at(2),
    handler: groups.destroy,
    since: '5.0.0',
    summary: 'Removes a consumer group.',
  },
  {
    name: 'XGROUP CREATECONSUMER',
    arity: 5,
    flags: grow,
    keys: at(2),
    handler: groups.createConsumer,
    since: '6.2.0',
    summary: 'Makes a consumer of a group.',
  },
  {
    name: 'XGROUP DELCONSUMER',
    arity: 5,
    flags: write,
    keys: at(2),
    handler: groups.deleteConsumer,
    since: '5.0.0',
    summary: 'Removes a consumer and what is pending for it.',
  },
  {
    name: 'XGROUP HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: { kind: 'none' },
    handler: groups.help,
    since: '5.0.0',
    summary: 'Describes the subcommands of XGROUP.',
  },
  {
    name: 'XREADGROUP',
    arity: -7,
    flags: ['write', 'blocking'],
    keys: found(keysOfRead(4)),
    restProblem: blockProblem,
    handler: readGroup,
    since: '5.0.0',
    summary: 'Hands entries of several streams to a consumer of a group, or waits for them.',
    deviations: [
      'BLOCK is refused over REST.',
      'Over REST NOACK makes no consumer, and a consumer holds at most 1000 pending entries.',
      'The CLAIM option of Redis 8.4 is not known.',
    ],
  },
  {
    name: 'XACK',
    arity: -4,
    flags: writeFast,
    keys: at(1),
    handler: acknowledge,
    since: '5.0.0',
    summary: 'Acknowledges entries for a group and returns how many were pending.',
  },
  {
    name: 'XACKDEL',
    arity: -6,
    flags: writeFast,
    keys: at(1),
    handler: acknowledgeAndRemove,
    since: '8.2.0',
    summary: 'Acknowledges entries for a group and deletes them.',
  },
  {
    name: 'XPENDING',
    arity: -3,
    flags: readOnly,
    keys: at(1),
    handler: pending,
    since: '5.0.0',
    summary: 'Returns what a group was handed and has not acknowledged.',
  },
  {
    name: 'XCLAIM',
    arity: -6,
    flags: writeFast,
    keys: at(1),
    handler: claim,
    since: '5.0.0',
    summary: 'Makes pending entries those of another consumer.',
  },
  {
    name: 'XAUTOCLAIM',
    arity: -6,
    flags: writeFast,
    keys: at(1),
    handler: autoClaim,
    since: '6.2.0',
    summary: 'Makes pending entries that have been idle for long those of another consumer, step by step.',
  },
  {
    name: 'XINFO STREAM',
    arity: -3,
    flags: readOnly,
    keys: at(2),
    handler: info.stream,
    since: '5.0.0',
    summary: 'Describes a stream, in full if asked.',
    deviations: ['The fields on idempotence of Redis 8.6 are missing.'],
  },
  {
    name: 'XINFO GROUPS',
    arity: 3,
    flags: readOnly,
    keys: at(2),
    handler: info.groups,
    since: '5.0.0',
    summary: 'Describes the consumer groups of a stream.',
  },
  {
    name: 'XINFO CONSUMERS',
    arity: 4,
    flags: readOnly,
    keys: at(2),
    handler: info.consumers,
    since: '5.0.0',
    summary: 'Describes the consumers of a group.',
  },
  {
    name: 'XINFO HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: { kind: 'none' },
    handler: info.help,
    since: '5.0.0',
    summary: 'Describes the subcommands of XINFO.',
  },
]);
