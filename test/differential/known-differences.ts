/**
 * Every known difference between the replies of Millrace and of a real server, with its reason. The test fails for a
 * differing reply without a rule, and for a rule without a differing reply.
 */

import type { CommandSpec } from '../../src/domain/kv/index.js';
import type { ByteString } from '../../src/kernel/index.js';
import { SERVER_DIFFERENCES } from './server-differences.js';
import { STREAM_DIFFERENCES } from './stream-differences.js';

interface Exchange {
  readonly spec: CommandSpec | undefined;
  readonly words: readonly ByteString[];
  /** Replies as RESP2 bytes. */
  readonly ours: ByteString;
  readonly theirs: ByteString;
  /** Of the real server's version. */
  readonly major: number;
}

export interface KnownDifference {
  readonly name: string;
  readonly reason: string;
  /** The two sides hold different data afterwards, so there is no point in comparing it. */
  readonly parts?: true;
  /** Depends on the clock, and may not show in a run. */
  readonly mayNotShow?: true;
  covers(exchange: Exchange): boolean;
}

const SYNTAX = '-ERR syntax error\r\n';
const option = (words: readonly ByteString[], name: string): boolean =>
  words.slice(1).some((word) => word.toUpperCase() === name);
const count = (words: readonly ByteString[], names: readonly string[]): number =>
  words.slice(3).filter((word) => names.includes(word.toUpperCase())).length;

const UNAVAILABLE = /^-ERR [A-Z]+ is not available: /;

/** Commands that are never sent: what they would do to a real server is not the point. */
export function isWithoutRedis(ours: ByteString): boolean {
  return ours.startsWith('-ERR Command ') || ours.startsWith('-ERR empty command') || UNAVAILABLE.test(ours);
}

/** The same reply with every number in it written in one way: Redis 7.0 prints so many decimals, not digits. */
const inNumbers = (resp: ByteString): string =>
  resp.replace(
    /\$[0-9]+\r\n(-?[0-9.]+(?:e[+-]?[0-9]+)?)\r\n/g,
    (_, text: string) => `#${Number(text).toPrecision(12)}\r\n`,
  );
const lines = (resp: ByteString): string => inNumbers(resp).split('\r\n').sort().join();
const unnumbered = (info: ByteString): string => info.replace(/(max-level|vset-uid)\r\n:\d+/g, '$1');
/** How many items an answer has, and whether it is an error. */
const outline = (resp: ByteString): string => (/^(?:\*-?[0-9]+|\$-1|.)/.exec(resp) as RegExpExecArray)[0];

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  ...SERVER_DIFFERENCES,
  {
    name: 'the name of a command of vector sets in its error about words',
    reason: 'Redis shows it as it was typed, because the family is a module',
    covers: ({ spec, ours, theirs }) =>
      spec?.family === 'vector-set' &&
      ours.startsWith('-ERR wrong number') &&
      ours === theirs.replace(/'[A-Z]+'/, (name) => name.toLowerCase()),
  },
  {
    name: 'VLINKS: the levels of a node',
    mayNotShow: true,
    reason: 'Redis chooses them by chance',
    covers: ({ spec, ours, theirs }) => spec?.name === 'VLINKS' && ours.startsWith('*') && theirs.startsWith('*'),
  },
  {
    name: 'VINFO: the level of the graph and the number of the set',
    reason: 'the graph has other levels and begins at 10,000 elements; sets have no number',
    covers: ({ spec, ours, theirs }) => spec?.name === 'VINFO' && unnumbered(ours) === unnumbered(theirs),
  },
  {
    name: 'which of two functions is in the way',
    mayNotShow: true,
    reason: 'Redis goes through them in no order',
    covers: ({ words, ours, theirs }) =>
      words[0] === 'FUNCTION' && [ours, theirs].every((reply) => /^-ERR Function \w+ already exists/.test(reply)),
  },
  {
    name: 'allow-key-locking',
    mayNotShow: true,
    reason: 'a flag of the documented API that Redis lacks',
    covers: ({ words, theirs }) =>
      (words[1] ?? '').includes('allow-key-locking') && theirs.startsWith('-ERR Unexpected flag in script shebang'),
  },
  {
    name: 'FUNCTION DUMP',
    mayNotShow: true,
    reason: 'other version; that each side restores the payload of the other is a test of its own',
    covers: ({ spec, ours, theirs }) =>
      spec?.name === 'FUNCTION DUMP' && ours.startsWith('$') && theirs.startsWith('$'),
  },
  {
    name: 'help of scripts and functions',
    mayNotShow: true,
    reason: 'ours lists what there is',
    covers: ({ spec, ours, theirs }) =>
      /^(SCRIPT|FUNCTION) HELP$/.test(spec?.name ?? '') && ours.startsWith('*') && theirs.startsWith('*'),
  },
  {
    name: 'ACL commands',
    reason: 'an edge answers them, not the engine; test/differential/acl.test.ts compares what it answers',
    covers: ({ spec }) => spec?.family === 'acl',
  },
  {
    name: 'a move that may not wait',
    mayNotShow: true,
    reason: 'on the bench nothing waits, and then the answer is a null string; on the server time was over',
    covers: ({ words, ours, theirs }) =>
      (words[0] === 'BLMOVE' || words[0] === 'BRPOPLPUSH') && ours === '$-1\r\n' && theirs === '*-1\r\n',
  },
  ...STREAM_DIFFERENCES,
  {
    name: 'JSON without its module',
    parts: true,
    reason:
      "the reference server comes without the JSON module; its cases run as specs, and so does the family's random program",
    covers: ({ words, theirs }) => (words[0] ?? '').startsWith('JSON.') && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'full-text indexes',
    parts: true,
    reason: 'Redis has no such commands; the cases run as specs, and a plain comparison checks a random program',
    covers: ({ spec, theirs }) => spec?.family === 'search' && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'commands of Redis 8.8 and 8.10',
    parts: true,
    reason:
      'no reference server is as new; the cases run as specs, and a plain model checks a random program of arrays',
    covers: ({ spec, theirs }) => /^8\.(8|10)\./.test(spec?.since ?? '') && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'filters and sketches without their module',
    parts: true,
    reason: 'the reference server comes without the module; its cases run as specs, and so does a random program',
    covers: ({ words, theirs }) =>
      /^(BF|CF|CMS|TOPK|TDIGEST)\./i.test(words[0] ?? '') && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'vector indexes',
    parts: true,
    reason: 'an extension that no server of Redis has; its cases run as specs',
    covers: ({ spec, theirs }) => spec?.family === 'vector' && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'AGGREGATE COUNT',
    parts: true,
    reason: 'known since Redis 8.8',
    covers: ({ spec, words, theirs }) =>
      spec?.family === 'sorted-set' && option(words, 'AGGREGATE') && option(words, 'COUNT') && theirs === SYNTAX,
  },
  {
    name: 'commands that send messages to the queue',
    mayNotShow: true,
    reason: 'Redis has no queue of this kind',
    covers: ({ words, theirs }) => (words[0] ?? '').startsWith('QUEUE.') && theirs.startsWith('-ERR unknown command'),
  },
  {
    name: 'digits of scores and coordinates',
    mayNotShow: true,
    reason: 'the shortest that read back as the same, as Redis 8 and the documented API print them; 7.0 prints 17',
    covers: ({ spec, ours, theirs }) =>
      (spec?.family === 'sorted-set' || spec?.family === 'geo') && inNumbers(ours) === inNumbers(theirs),
  },
  {
    name: 'digits of ZSCAN',
    mayNotShow: true,
    reason: 'Redis prints other digits there where the set is large',
    covers: ({ words, ours, theirs }) => words[0] === 'ZSCAN' && lines(ours) === lines(theirs),
  },
  {
    name: 'bounds of scores with blanks in front or in hexadecimal',
    reason: 'read as Redis 7.0 reads them, with strtod; 8 has a reader of its own',
    covers: ({ spec, words, theirs }) =>
      spec?.family === 'sorted-set' &&
      theirs === '-ERR min or max is not a float\r\n' &&
      words.some((word) => /^\(?(?:\s+|[+-]?0x)[0-9a-f.]/i.test(word)),
  },
  {
    name: 'ZRANDMEMBER',
    mayNotShow: true,
    reason: 'chance',
    covers: ({ words, ours, theirs }) => words[0] === 'ZRANDMEMBER' && outline(ours) === outline(theirs),
  },
  {
    name: 'UNLINK without a key',
    reason: 'the documented API answers 0',
    covers: ({ words, ours }) => words.length === 1 && words[0] === 'UNLINK' && ours === ':0\r\n',
  },
  {
    name: 'COPY to another database',
    parts: true,
    reason: 'there is one database',
    covers: ({ words, ours }) => words[0] === 'COPY' && ours.startsWith('-ERR DB index is out of range'),
  },
  {
    name: 'SCAN WITHTYPE',
    reason: 'an option of the API that Redis lacks',
    covers: ({ words, theirs }) => words[0] === 'SCAN' && option(words, 'WITHTYPE') && theirs === SYNTAX,
  },
  {
    name: 'SCAN with a cursor never handed out',
    mayNotShow: true,
    reason: 'our cursors are 32-bit hashes, and one beyond them ends; Redis masks it with the size of its table',
    covers: ({ words, ours }) =>
      words[0] === 'SCAN' && BigInt(words[1] as string) >= 1n << 32n && ours.startsWith('*2'),
  },
  {
    name: 'instants beyond 2^53 ms',
    parts: true,
    mayNotShow: true,
    reason: 'an expiry is kept in a number and stays exact: those later than that are the last that it holds',
    covers: ({ theirs, words }) =>
      /^P?(EXPIRETIME|TTL)$/i.test(words[0] as string) && BigInt(/^:([0-9]+)/.exec(theirs)?.[1] ?? 0) > 1n << 43n,
  },
  {
    name: 'two conditions in SET',
    parts: true,
    reason: 'the documented API allows one; Redis 8 takes some pairs and ignores one of them',
    covers: ({ words, ours }) =>
      words[0] === 'SET' && ours === SYNTAX && count(words, ['NX', 'XX', 'IFEQ', 'IFNE', 'IFDEQ', 'IFDNE']) > 1,
  },
  {
    name: 'hexadecimal floats',
    parts: true,
    reason: "strtold's notation is not documented for INCRBYFLOAT",
    covers: ({ words, ours }) =>
      words[0] === 'INCRBYFLOAT' && /^[+-]?0x/i.test(words[2] ?? '') && ours === '-ERR value is not a valid float\r\n',
  },
  {
    name: 'WAITAOF',
    reason: 'the journal counts as the local copy; the reference server runs without an append-only file',
    covers: ({ words, ours }) => words[0] === 'WAITAOF' && ours === '*2\r\n:1\r\n:0\r\n',
  },
  {
    name: 'COMMAND',
    reason: 'the documented API answers an empty list and takes no argument',
    covers: ({ words }) => words[0] === 'COMMAND',
  },
  {
    name: 'INFO',
    reason: 'other sections and fields; an unknown section still has its heading',
    covers: ({ words, ours, theirs }) => words[0] === 'INFO' && ours.startsWith('$') && theirs.startsWith('$'),
  },
  {
    name: 'OBJECT HELP, IDLETIME, REFCOUNT',
    reason: 'neither is tracked, and the help is our own',
    covers: ({ spec, ours, theirs }) =>
      /^OBJECT (HELP|IDLETIME|REFCOUNT)$/.test(spec?.name ?? '') && ours.charAt(0) === theirs.charAt(0),
  },
  {
    name: 'OBJECT ENCODING of a changed value',
    reason: 'ours follows from the value alone; Redis keeps `raw` after APPEND and SETRANGE',
    covers: ({ spec, theirs }) => spec?.name === 'OBJECT ENCODING' && /raw|embstr/.test(theirs),
  },
  {
    name: 'MEMORY USAGE',
    reason: 'the number is of this implementation',
    covers: ({ spec, ours, theirs }) => spec?.name === 'MEMORY USAGE' && ours.startsWith(':') && theirs.startsWith(':'),
  },
  {
    name: 'TIME',
    mayNotShow: true,
    reason: 'the clock went on',
    covers: ({ words, ours, theirs }) => words[0] === 'TIME' && ours.startsWith('*2') && theirs.startsWith('*2'),
  },
  {
    name: 'DUMP',
    reason: 'other version, and no compression; that each side restores the payload of the other is a test of its own',
    covers: ({ words, ours, theirs }) => words[0] === 'DUMP' && ours.startsWith('$') && theirs.startsWith('$'),
  },
  {
    name: 'DBSIZE with expired keys',
    mayNotShow: true,
    reason: 'both count keys that have expired until they are removed, which happens at other moments',
    covers: ({ words, ours, theirs }) => words[0] === 'DBSIZE' && ours.startsWith(':') && theirs.startsWith(':'),
  },
  {
    name: 'times left',
    mayNotShow: true,
    reason: 'the clock went on between the two servers',
    covers: ({ words, ours, theirs }) =>
      /^H?P?(TTL|EXPIRETIME)$/.test(words[0] ?? '') && areClose(integersIn(ours), integersIn(theirs)),
  },
];

/** The integers of a reply, or of a list of them. */
function integersIn(resp: ByteString): number[] {
  return [...resp.matchAll(/:(-?[0-9]+)/g)].map(([, digits]) => Number(digits));
}

function areClose(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, index) => Math.abs(value - (right[index] ?? 0)) <= 2000);
}
