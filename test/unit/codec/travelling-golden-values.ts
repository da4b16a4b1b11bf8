/** Values with bytes recorded in test/fixtures/bus/kv.json, questions.json and frames.json. Never edited. */
import {
  BigNumberReply,
  BooleanReply,
  DoubleReply,
  ErrorReply,
  KeyedReply,
  MapReply,
  NIL_ARRAY,
  PairsReply,
  SetReply,
  SimpleString,
  VerbatimReply,
} from '../../../src/domain/kv/index.js';
import {
  type AccountId,
  type DatabaseId,
  type MessageId,
  MillraceError,
  type PartitionName,
  type SessionId,
} from '../../../src/kernel/index.js';
import type { KvRequest, KvResponse } from '../../../src/protocol/index.js';
import type { Question } from '../../../src/query/question-codec.js';

const request: KvRequest = {
  database: 'db-aaaabbbbccccdddd' as DatabaseId,
  partition: 'kv:db-aaaabbbbccccdddd:0' as PartitionName,
  mode: 'single',
  commands: [['GET', 'k\u00ff\u0000']],
  bytes: 6,
};
const client = { face: 'resp', protocol: 3, id: 'node-1:4', address: '127.0.0.1:50432', user: 'default' } as const;

export const GOLDEN_KV_REQUESTS: readonly KvRequest[] = [
  request,
  {
    ...request,
    mode: 'pipeline',
    commands: [['SET', 'a', 'x'.repeat(40)], ['SET', 'b', 'y'.repeat(300)], []],
    bytes: 348,
  },
  { ...request, bytes: 70_000, client },
  { ...request, client: { ...client, name: 'n\u00e4', rules: '~a* +@all' }, trackFor: 'node-1' as SessionId },
  { ...request, client: { ...client, face: 'rest', protocol: 2 }, waiter: 'node-1:w:1' },
  { ...request, mode: 'transaction', watches: [{ keys: ['a', '\u0080'], mark: '3:12' }], maxAnswerBytes: 67_108_864 },
  {
    ...request,
    mode: 'listen',
    commands: [],
    bytes: 0,
    listen: {
      edge: 'node-1' as SessionId,
      isWhole: true,
      counts: [
        ['channel', 'news', 2],
        ['pause', '', 0],
      ],
    },
  },
];

const syncToken = '12-3';
export const GOLDEN_KV_RESPONSES: readonly KvResponse[] = [
  { syncToken, replies: [] },
  {
    syncToken,
    replies: [
      '',
      'v\u00ff',
      'x'.repeat(31),
      'x'.repeat(32),
      'x'.repeat(256),
      'x'.repeat(65_536),
      null,
      new SimpleString('OK'),
    ],
  },
  { syncToken, replies: [0, 127, 128, 256, 65_536, 4_294_967_296, -1, -32, -33, -129, -32_769, -2_147_483_649, 1.5] },
  { syncToken, replies: [[], ['a', [1, null, [NIL_ARRAY]]], new Array<number>(20).fill(7)], hasSaid: true },
  { syncToken, replies: [5n, -9_223_372_036_854_775_808n, [18_446_744_073_709_551_615n], new MapReply(['n', 1n])] },
  {
    syncToken,
    replies: [
      new ErrorReply('ERR one', 'ERR other'),
      new ErrorReply('ERR same'),
      new DoubleReply(1.5),
      new DoubleReply(3),
      new DoubleReply(Number.POSITIVE_INFINITY),
      new BooleanReply(true),
      new BooleanReply(false),
      new VerbatimReply('text'),
      new VerbatimReply('# text', 'mkd'),
      new BigNumberReply('123456789012345678901234567890'),
    ],
  },
  {
    syncToken,
    replies: [
      new MapReply([]),
      new MapReply(['a', new SetReply(['b', 1, new DoubleReply(0.25)]), 'c', ['d']]),
      new PairsReply(['m', new DoubleReply(2)]),
      new KeyedReply(['s', [['1-0', ['f', 'v'.repeat(300)]]]]),
      new SetReply(['x'.repeat(70_000)]),
      new SetReply(['x'.repeat(13)]),
      new SetReply([new SetReply([new SetReply([])])]),
    ],
  },
  {
    syncToken,
    replies: [],
    isAborted: true,
    isFull: false,
    scriptReads: undefined,
    denials: undefined,
    hasSaid: false,
  },
  {
    syncToken,
    replies: [1],
    isAborted: false,
    isFull: true,
    scriptReads: ['a', 'b\u00ff'],
    denials: [{ user: 'u', reason: 'key', object: 'o' }],
    hasSaid: true,
  },
];

const account = 'ac-aaaabbbbccccdddd' as AccountId;
export const GOLDEN_QUESTIONS: readonly Question[] = [
  {
    kind: 'events',
    account,
    seen: 70_000,
    query: { messageId: 'msg_1' as MessageId, fromMs: 1_790_000_000_000, count: 10 } as never,
  },
  { kind: 'dlq', account, selector: { byIds: ['1-2'] } as never, seen: 3, trimBytes: 1024 },
  { kind: 'runs', account, query: { filter: { labels: ['a', 'ä'] } } as never, seen: 0 },
  { kind: 'run-events', account, query: {} as never, seen: 0 },
  {
    kind: 'statistics',
    question: { of: 'search-totals', ids: ['db-aaaabbbbccccdddd' as DatabaseId], nowMs: 1_790_000_000_000.5 },
  },
];

const envelope = { url: 'https://a.example/', isAlias: false };
const body = Uint8Array.of(0, 200, 255);
export const GOLDEN_PAGES: readonly object[] = [
  { items: [], next: undefined, behind: undefined },
  {
    items: [
      { atMs: 5, envelope, body, error: undefined },
      { atMs: -6.25, envelope, body },
    ],
    next: 'on',
    behind: { ms: 12 },
  },
];

export const GOLDEN_PAYLOAD = body;
export const GOLDEN_OFFERS = [
  { at: 'mr.bulk.x', id: 'a', bytes: 600_000 },
  { at: '', id: 'x'.repeat(40), bytes: 5_000_000_000 },
];
export const GOLDEN_FRAME_FAILURES: readonly unknown[] = [
  new MillraceError('FENCED', 'lost', { shard: 'KV_1', epoch: -7, ids: ['a'], at: 1.5, none: undefined, nil: null }),
  new MillraceError('INVALID', 'half \ud800 a pair', { bytes: body, deep: { names: ['ä'] } }),
  new MillraceError('INVALID', 'without a form', { ask: () => 1 }),
  new Error('größer'),
];
