/** Commands and answers cross the bus unchanged, with any contents; messages of another release are refused. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeQueueCommand,
  decodeQueueReply,
  encodeQueueCommand,
  encodeQueueReply,
} from '../../../../src/codec/queue/index.js';
import type {
  AttemptOutcome,
  MessageFilter,
  PublishItem,
  QueueCommand,
  QueueRejection,
  QueueReply,
} from '../../../../src/domain/queue/index.js';
import {
  type AccountId,
  type DlqId,
  type MessageId,
  MillraceError,
  type ScheduleId,
} from '../../../../src/kernel/index.js';
import { repetitions } from '../../../support/depth.js';
import { APPLICATION_COMMANDS, APPLICATION_REPLIES } from './application-values.js';
import { GOLDEN_EVENTS, GOLDEN_INTAKE } from './golden-values.js';
import {
  RUN_PUBLISH,
  RUN_PUBLISHED,
  RUN_REJECTED,
  WORKFLOW_COMMANDS,
  WORKFLOW_REPLIES,
} from './workflow-remote-values.js';

const account = 'ac-aaaabbbbccccdddd' as AccountId;
const id = 'msg_26hZCxZCuWyyTWPmSVBrNC1RADwp' as MessageId;
const dlqId = '1767225600000-7' as DlqId;
const scheduleId = 'nightly' as ScheduleId;
const bytes = Uint8Array.from([0, 128, 255]);
const raw = { headers: [['svc-retries', '1']], query: [['svc-delay', '3s']] } as const;
const [urlItem, groupItem] = GOLDEN_INTAKE.items as [PublishItem, PublishItem];
const throughBytes = (command: QueueCommand) => decodeQueueCommand(encodeQueueCommand({ account, command }));
const replyThroughBytes = (reply: QueueReply) => decodeQueueReply(encodeQueueReply(reply));

type OneOfEach<T extends { readonly type: string }> = {
  readonly [Type in T['type']]: readonly Extract<T, { readonly type: Type }>[];
};

const filters: MessageFilter[] = [
  {},
  { url: [], fromMs: 0 },
  {
    messageId: ['a'],
    url: ['b'],
    host: ['c'],
    path: ['d'],
    topicName: ['e'],
    queueName: ['f'],
    scheduleId: ['g'],
    label: ['h', 'i'],
    flowControlKey: ['j'],
    priority: ['low'],
    callerIp: ['k'],
    fromMs: 1,
    toMs: 2.5,
    responseStatus: [0, 500],
  },
];
const outcomes: AttemptOutcome[] = [
  { kind: 'response', status: 200, header: [['A', 'b']], body: bytes, isCut: true, durationMs: 1.25 },
  { kind: 'no-response', error: 'connection refused', durationMs: 3 },
];

const COMMANDS: OneOfEach<QueueCommand> = {
  ...APPLICATION_COMMANDS,
  Publish: [
    { type: 'Publish', items: [urlItem, groupItem, { ...urlItem, deduplication: 'content' }], isTold: true },
    { type: 'Publish', items: [], isTold: false },
    RUN_PUBLISH,
  ],
  SetBreakerRules: [
    { type: 'SetBreakerRules', rules: GOLDEN_EVENTS.BreakerRulesSet.rules },
    { type: 'SetBreakerRules', rules: undefined },
  ],
  ListBreakers: [{ type: 'ListBreakers', onlyStopped: true }],
  SetBreaker: [{ type: 'SetBreaker', url: 'https://a/', isDisabled: false }],
  GetMessage: [{ type: 'GetMessage', id }],
  ListMessages: [
    { type: 'ListMessages', filter: {}, states: [], order: 'latestFirst', count: 100, after: undefined },
    ...filters.map(
      (filter) =>
        ({
          type: 'ListMessages',
          filter,
          states: ['SCHEDULED', 'RETRYING'],
          order: 'earliestFirst',
          count: 1,
          after: 7,
        }) as const,
    ),
  ],
  CancelMessage: [{ type: 'CancelMessage', id }],
  CancelMessages: [
    { type: 'CancelMessages', selector: { kind: 'ids', messageIds: [id] } },
    ...filters.map(
      (filter) => ({ type: 'CancelMessages', selector: { kind: 'filter', filter, count: undefined } }) as const,
    ),
  ],
  SetQueue: [{ type: 'SetQueue', name: 'q', parallelism: 2, isPaused: true }],
  PauseQueue: [{ type: 'PauseQueue', name: 'q', isPaused: false }],
  DeleteQueue: [
    { type: 'DeleteQueue', name: 'q' },
    { type: 'DeleteQueue', name: 'q', ifEmpty: true },
  ],
  GetQueue: [{ type: 'GetQueue', name: 'q' }],
  ListQueues: [{ type: 'ListQueues' }],
  UpsertEndpoints: [{ type: 'UpsertEndpoints', group: 'g', endpoints: [{ url: 'https://a/', name: undefined }] }],
  RemoveEndpoints: [
    {
      type: 'RemoveEndpoints',
      group: 'g',
      endpoints: [
        { url: undefined, name: 'n' },
        { url: 'https://a/', name: undefined },
      ],
    },
  ],
  SetGroupDefaults: [{ type: 'SetGroupDefaults', group: 'g', defaults: raw.headers }],
  DeleteGroup: [{ type: 'DeleteGroup', group: 'g' }],
  GetGroup: [{ type: 'GetGroup', group: 'g' }],
  ListGroups: [{ type: 'ListGroups' }],
  SetSchedule: [
    {
      type: 'SetSchedule',
      schedule: {
        id: scheduleId,
        cron: '* * * * *',
        destination: groupItem.destination,
        queueName: undefined,
        body: bytes,
        callerIp: '192.0.2.1',
        isAlias: true,
      },
    },
  ],
  PauseSchedule: [{ type: 'PauseSchedule', id: scheduleId, isPaused: true }],
  DeleteSchedule: [{ type: 'DeleteSchedule', id: scheduleId }],
  GetSchedule: [{ type: 'GetSchedule', id: scheduleId }],
  ListSchedules: [{ type: 'ListSchedules' }],
  GetDlq: [{ type: 'GetDlq', dlqId }],
  DeleteDlq: [
    { type: 'DeleteDlq', selector: { kind: 'ids', dlqIds: [dlqId] } },
    ...filters.map(
      (filter) =>
        ({
          type: 'DeleteDlq',
          selector: { kind: 'filter', filter, count: 5, after: dlqId, order: 'latestFirst' },
        }) as const,
    ),
  ],
  RetryDlq: [
    {
      type: 'RetryDlq',
      selector: { kind: 'filter', filter: {}, count: 5, after: undefined, order: 'earliestFirst' },
      firstId: id,
      overrides: raw,
    },
  ],
  GetFlow: [{ type: 'GetFlow', key: 'k' }],
  ListFlows: [
    { type: 'ListFlows', search: undefined },
    { type: 'ListFlows', search: '' },
  ],
  PauseFlow: [{ type: 'PauseFlow', key: 'k', isPaused: true }],
  PinFlow: [{ type: 'PinFlow', key: 'k', parallelism: 1, rate: undefined, periodSeconds: 60 }],
  UnpinFlow: [{ type: 'UnpinFlow', key: 'k', parallelism: true, rate: false }],
  ResetFlow: [{ type: 'ResetFlow', key: 'k', all: true }],
  GetGlobalParallelism: [{ type: 'GetGlobalParallelism' }],
  GetPosition: [{ type: 'GetPosition' }],
  RecordAttempt: outcomes.map((outcome, at) => ({
    type: 'RecordAttempt',
    id,
    retried: at,
    restarts: 1,
    outcome,
    sentBody: at === 0 ? bytes : undefined,
  })),
  TakeIntake: [{ type: 'TakeIntake', records: [{ position: 9, items: [urlItem] }] }],
  TakeOutbox: [
    {
      type: 'TakeOutbox',
      source: 'kv:db-aaaabbbbccccdddd:0',
      records: [
        { sequence: 7, call: { kind: 'publish', item: groupItem } },
        {
          sequence: 1_810_000_000_000_000,
          call: { kind: 'notify', eventId: 'paid', runId: undefined, firstId: id, content: bytes },
        },
        {
          sequence: 1_810_000_000_000_001,
          call: {
            kind: 'schedule',
            schedule: {
              id: scheduleId,
              cron: '* * * * *',
              destination: urlItem.destination,
              queueName: 'q',
              body: bytes,
              callerIp: '',
              isAlias: false,
            },
          },
        },
      ],
    },
  ],
  ...WORKFLOW_COMMANDS,
};

const { envelope } = GOLDEN_EVENTS.MessageAccepted;
const published = { messageId: id, url: 'https://a/', isDuplicate: true };
const daily = { limit: 10, remaining: 0, resetAtMs: 1_767_225_600_000, isAboveSoft: true };
const { entry } = GOLDEN_EVENTS.DlqRestored;
const { schedule } = GOLDEN_EVENTS.ScheduleRestored;
const flow = { key: 'k', waiting: 1, active: 2, started: 3, periodSeconds: 4, windowStartedAtMs: 5 };
const flags = { isPaused: true, isParallelismPinned: false, isRatePinned: true };

const REPLIES: OneOfEach<QueueReply> = {
  ...APPLICATION_REPLIES,
  Breakers: [
    {
      type: 'Breakers',
      rules: GOLDEN_EVENTS.BreakerRulesSet.rules,
      breakers: [{ ...GOLDEN_EVENTS.BreakerChanged.breaker, waiting: 3 }],
    },
    { type: 'Breakers', rules: undefined, breakers: [] },
  ],
  OutboxTaken: [{ type: 'OutboxTaken', sequence: 1_810_000_000_000_000 }],
  Rejected: [
    { type: 'Rejected', reason: 'BUDGET', message: 'no more' },
    { type: 'Rejected', reason: 'DAILY_LIMIT', message: '', daily },
    RUN_REJECTED,
  ],
  Published: [
    { type: 'Published', results: [published, [published, { ...published, isDuplicate: false }], []], daily },
    { type: 'Published', results: [], daily: undefined },
    RUN_PUBLISHED,
  ],
  Message: [
    {
      type: 'Message',
      message: {
        id,
        envelope,
        body: { number: 1, bytes: 3 },
        createdAtMs: 1,
        notBeforeMs: 2,
        status: 'delivered',
        retried: 1,
      },
      content: bytes,
    },
  ],
  Messages: [
    { type: 'Messages', messages: [], counts: [0, 0, 0, 0], after: undefined },
    {
      type: 'Messages',
      messages: [
        {
          id,
          envelope,
          body: { number: 1, bytes: 3 },
          createdAtMs: 1,
          notBeforeMs: 2,
          status: 'waiting',
          retried: 1,
          state: 'RETRYING',
          dueAtMs: 3,
        },
      ],
      counts: [4, 3, 2, 1],
      after: 9,
    },
  ],
  Cancelled: [{ type: 'Cancelled', count: 3 }],
  Done: [{ type: 'Done' }],
  Queues: [
    {
      type: 'Queues',
      queues: [{ name: 'q', parallelism: 1, isPaused: false, createdAtMs: 1, updatedAtMs: 2, lag: 3 }],
    },
  ],
  Groups: [{ type: 'Groups', groups: [GOLDEN_EVENTS.GroupRestored.group] }],
  Schedules: [
    {
      type: 'Schedules',
      schedules: [
        { schedule, content: undefined },
        { schedule, content: bytes },
      ],
    },
  ],
  ScheduleSet: [{ type: 'ScheduleSet', id: scheduleId }],
  Dlq: [{ type: 'Dlq', entry, content: undefined, response: new Uint8Array(0) }],
  DlqDeleted: [{ type: 'DlqDeleted', count: 1, after: dlqId }],
  DlqRetried: [{ type: 'DlqRetried', results: [published], after: undefined }],
  Flows: [
    { type: 'Flows', flows: [{ ...flow, ...flags, parallelism: undefined, rate: 7 }] },
    { type: 'Flows', flows: [] },
  ],
  GlobalParallelism: [{ type: 'GlobalParallelism', max: 10, active: 2 }],
  Position: [{ type: 'Position', position: 7 }],
  ...WORKFLOW_REPLIES,
};

/** A missing type does not compile. */
const REASONS = Object.keys({
  INVALID: true,
  NOT_FOUND: true,
  TOO_MANY: true,
  RUN_OVER: true,
  SUSPENDED: true,
  DAILY_LIMIT: true,
  BUDGET: true,
  FULL: true,
} satisfies Record<QueueRejection, true>) as QueueRejection[];

describe('queue commands between processes', () => {
  for (const [type, commands] of Object.entries(COMMANDS)) {
    it(`carry ${type} unchanged`, () => {
      expect(commands).not.to.deep.equal([]);
      for (const command of commands) expect(throughBytes(command)).to.deep.equal({ account, command });
    });
  }

  it('carry any settings and any body', () => {
    const word = fc.string({ unit: 'binary', maxLength: 40 });
    const headers = fc.array(fc.tuple(word, word), { maxLength: 20 });
    const body = fc.uint8Array({ maxLength: 300 }).map((content) => Uint8Array.from(content));
    const item = fc.record({ headers, query: headers, body, at: fc.option(fc.maxSafeNat(), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 20 }), (made) => {
        const items = made.map(
          ({ headers, query, body, at }): PublishItem => ({
            ...groupItem,
            destination: { kind: 'group', name: 'all', raw: { headers, query } },
            body,
            notBeforeMs: at,
          }),
        );
        const command: QueueCommand = { type: 'Publish', items, isTold: false };
        expect(throughBytes(command)).to.deep.equal({ account, command });
      }),
      { numRuns: repetitions(100) },
    );
  });

  it('carry a body of ten megabytes', () => {
    const body = new Uint8Array(10 * 1024 * 1024).fill(7);
    const command: QueueCommand = { type: 'Publish', items: [{ ...urlItem, body }], isTold: false };
    const { command: read } = throughBytes(command);
    expect(Buffer.compare((read as typeof command).items[0]?.body ?? bytes, body)).to.equal(0);
  });
});

describe('answers of a queue between processes', () => {
  for (const [type, replies] of Object.entries(REPLIES)) {
    it(`carry ${type} unchanged`, () => {
      expect(replies).not.to.deep.equal([]);
      for (const reply of replies) expect(replyThroughBytes(reply)).to.deep.equal(reply);
    });
  }

  it('carry every reason of a rejection', () => {
    for (const reason of REASONS) {
      const reply: QueueReply = { type: 'Rejected', reason, message: 'no' };
      expect(replyThroughBytes(reply)).to.deep.equal(reply);
    }
  });
});

describe('queue messages of another process', () => {
  const command = Buffer.from(encodeQueueCommand({ account, command: COMMANDS.Publish[0] as QueueCommand }));
  const reply = Buffer.from(encodeQueueReply(REPLIES.Dlq[0] as QueueReply));
  const refuses = (read: () => unknown) => expect(read).to.throw(MillraceError).with.property('code', 'INVALID');

  it('of another version are refused as such', () => {
    for (const [bytes, read] of [
      [command, decodeQueueCommand],
      [reply, decodeQueueReply],
    ] as const) {
      const later = Buffer.from(bytes);
      later[0] = 2;
      refuses(() => read(later));
    }
  });

  it('are read completely or refused', () => {
    for (let length = 0; length < command.length; length += 1) {
      refuses(() => decodeQueueCommand(command.subarray(0, length)));
    }
    for (let length = 0; length < reply.length; length += 1) refuses(() => decodeQueueReply(reply.subarray(0, length)));
    refuses(() => decodeQueueCommand(Buffer.concat([command, command])));
  });

  it('of any bytes are read or refused, without another error', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const damaged = Buffer.from(command);
        for (const [at, byte] of changes) damaged[at % damaged.length] = byte;
        try {
          decodeQueueCommand(damaged);
        } catch (error) {
          expect(error).to.be.instanceOf(MillraceError).with.property('code', 'INVALID');
        }
      }),
      { numRuns: repetitions(1000) },
    );
  });
});
