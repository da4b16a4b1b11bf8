/**
 * Permitted differences in replies about streams: the clock, fields that a version added or removed, and numbers that
 * Redis 7.0 counts differently.
 */
import type { ByteString } from '../../src/kernel/index.js';
import type { KnownDifference } from './known-differences.js';

/** Redis 7.0 makes a consumer only when it gets something, and loses count in more cases. */
const isOld = (major: number): boolean => major < 8;

export const STREAM_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'XADD with an id from the clock',
    reason: 'the clock went on between the two servers',
    parts: true,
    mayNotShow: true,
    covers: ({ words, ours, theirs }) =>
      words[0] === 'XADD' && words.includes('*') && ours.startsWith('$') && theirs.startsWith('$'),
  },
  {
    name: 'XREAD with an odd number of keys and ids',
    reason: 'worded as in Redis 8',
    mayNotShow: true,
    covers: ({ words, ours, theirs }) =>
      /^XREAD(GROUP)?$/.test(words[0] ?? '') &&
      ours.startsWith('-ERR Unbalanced') &&
      theirs.startsWith('-ERR Unbalanced'),
  },
  {
    name: 'XREADGROUP with +',
    reason: 'known since Redis 7.4',
    mayNotShow: true,
    covers: ({ words, major }) => words[0] === 'XREADGROUP' && isOld(major) && words.includes('+'),
  },
  {
    name: 'XSETID of Redis 7.0',
    reason: 'it does not look at the highest deleted id, and finds something else wrong',
    mayNotShow: true,
    covers: ({ words, ours, theirs, major }) =>
      words[0] === 'XSETID' && isOld(major) && ours.startsWith('-ERR The ID') && theirs.startsWith('-ERR The '),
  },
  {
    name: 'XSETID of Redis 7.0, which then does it',
    reason: 'as above',
    parts: true,
    mayNotShow: true,
    covers: ({ words, ours, theirs, major }) =>
      words[0] === 'XSETID' &&
      isOld(major) &&
      ours.endsWith('current max_deleted_entry_id\r\n') &&
      theirs === '+OK\r\n',
  },
  {
    name: 'consumers of Redis 7.0',
    reason: 'Redis 7.0 makes a consumer only when it gets something; so do we no longer',
    mayNotShow: true,
    covers: ({ spec, ours, major }) => isOld(major) && spec?.name === 'XGROUP CREATECONSUMER' && ours === ':0\r\n',
  },
  {
    name: 'XPENDING idle times',
    mayNotShow: true,
    reason: 'the clock went on between the two servers',
    covers: ({ words, ours, theirs }) => words[0] === 'XPENDING' && withoutIdle(ours) === withoutIdle(theirs),
  },
  {
    name: 'XINFO',
    reason: 'times of the clock; fields of Redis 8.6 we lack, fields and counts that Redis 7.0 lacks',
    covers: ({ words, ours, theirs, major }) =>
      words[0] === 'XINFO' && withoutDetails(ours, major) === withoutDetails(theirs, major),
  },
];

function withoutIdle(resp: ByteString): ByteString {
  return resp.replace(/\r\n:\d+\r\n:/g, '\r\n:IDLE\r\n:');
}

function withoutDetails(resp: ByteString, major: number): ByteString {
  const comparable = resp
    .replace(/^\*\d+\r\n\$6\r\nlength/, 'length')
    .replace(/\$\d+\r\n(idmp-\w+|pids-tracked|iids-\w+)\r\n:\d+\r\n/g, '')
    .replace(/:\d{13}\r\n/g, ':TIME\r\n')
    .replace(/\$4\r\nidle\r\n:\d+/g, 'idle')
    .replace(/\$8\r\ninactive\r\n:\d+/g, 'inactive')
    .replace(/(radix-tree-nodes|radix-tree-keys)\r\n:\d+/g, '$1');
  if (!isOld(major)) return comparable;
  return comparable
    .replace(/\$8\r\ninactive\r\n:-1\r\n|inactive\r\n/g, '')
    .replace(/\$11\r\nactive-time\r\n:(TIME|-1)\r\n/g, '')
    .replace(/\*(8|10|6)\r\n\$4\r\nname/g, '*MAP\r\n$4\r\nname')
    .replace(
      /\*MAP\r\n\$4\r\nname\r\n\$\d+\r\n\w+\r\n\$9\r\nseen-time\r\n:(TIME|-1)\r\n\$9\r\npel-count\r\n:0\r\n\$7\r\npending\r\n\*0\r\n/g,
      '',
    )
    .replace(/\*MAP\r\n\$4\r\nname\r\n\$\d+\r\n\w+\r\n\$7\r\npending\r\n:0\r\nidle\r\n/g, '')
    .replace(/consumers\r\n[:*]\d+/g, 'consumers')
    .replace(/(entries-read|lag)\r\n(:-?\d+|\$-1)/g, '$1')
    .replace(/^\*\d+/, '');
}
