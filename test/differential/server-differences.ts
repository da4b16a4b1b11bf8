/** Differences between commands about the server and those of a real one: each server reports its own facts. */
import type { KnownDifference } from './known-differences.js';

const REPORTS =
  /^(LASTSAVE|ROLE|LATENCY (DOCTOR|GRAPH)|MEMORY (DOCTOR|STATS)|SLOWLOG (GET|LEN)|CONFIG GET|LOLWUT|OBJECT FREQ)$/;

const nameOf = (words: readonly string[]): string => `${words[0]} ${words[1] ?? ''}`.toUpperCase().trim();

/** A HyperLogLog without what it remembers of its own count. */
const withoutCount = (resp: string): string => resp.replace(/^(\$[0-9]+\r\nHYLL[\s\S]{4})[\s\S]{8}/, '$1');

const OF_CLUSTER = /^(CLUSTER|ASKING|READONLY|READWRITE)$/;

export const SERVER_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'SORT of a set by nothing',
    reason: 'members of a set come in no order',
    mayNotShow: true,
    covers: ({ words, ours, theirs }) =>
      /^SORT(_RO)?$/.test(words[0] ?? '') &&
      words.includes('nosort') &&
      ours.split('\r\n')[0] === theirs.split('\r\n')[0],
  },
  {
    name: 'operations of BITOP that 7.0 lacks',
    reason: 'DIFF, DIFF1, ANDOR and ONE came with 8.2',
    parts: true,
    covers: ({ words, theirs, major }) => words[0] === 'BITOP' && major < 8 && theirs === '-ERR syntax error\r\n',
  },
  {
    name: 'the encoding of short lists',
    reason: 'listpack since 7.2, quicklist before',
    covers: ({ words, ours, theirs, major }) =>
      words[0] === 'OBJECT' && major < 8 && ours.endsWith('listpack\r\n') && theirs.endsWith('quicklist\r\n'),
  },
  {
    name: 'the remembered count of a HyperLogLog',
    reason: 'PFCOUNT of one key changes nothing here; a real server writes the count back',
    covers: ({ ours, theirs }) => /^\$[0-9]+\r\nHYLL/.test(ours) && withoutCount(ours) === withoutCount(theirs),
  },
  {
    name: 'CLUSTER',
    reason: 'a database is one node with every slot; a server outside of a cluster refuses the family',
    covers: ({ words, theirs }) =>
      OF_CLUSTER.test(words[0] ?? '') && theirs === '-ERR This instance has cluster support disabled\r\n',
  },
  {
    name: 'MODULE',
    reason: 'the modules of Redis are part of this server, and none can be loaded',
    covers: ({ words, ours, theirs }) =>
      words[0] === 'MODULE' &&
      ((ours.startsWith('*') && theirs.startsWith('*')) ||
        (/^-ERR MODULE [A-Z]+ is not available: /.test(ours) && theirs.startsWith('-ERR MODULE command not allowed'))),
  },
  {
    name: 'HELP texts',
    reason: 'the wording changes from version to version, and lists what a server has',
    covers: ({ words, ours, theirs }) => words[1]?.toUpperCase() === 'HELP' && ours[0] === '*' && theirs[0] === '*',
  },
  {
    name: 'what a server tells of itself',
    reason: 'reports, counts and defaults are of the server that is asked',
    covers: ({ words, ours, theirs }) =>
      (REPORTS.test(nameOf(words)) || words[0] === 'LOLWUT') && ours[0] === theirs[0] && !ours.startsWith('-'),
  },
  {
    name: 'bounds of parameters',
    reason: 'what a parameter may be differs from version to version',
    parts: true,
    covers: ({ words, ours }) => nameOf(words) === 'CONFIG SET' && ours.startsWith('-ERR CONFIG SET failed'),
  },
  {
    name: 'EXEC with words',
    reason: 'the endpoint that holds the connection says that the transaction is discarded',
    covers: ({ words, ours, theirs }) =>
      words[0] === 'EXEC' && ours.startsWith('-ERR wrong number') && theirs.startsWith('-EXECABORT'),
  },
];
