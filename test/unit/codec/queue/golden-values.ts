/** The values with bytes recorded in test/fixtures/journals/queue-events.json and intake-record.json. Never edited. */

import type { IntakeRecord } from '../../../../src/codec/queue/index.js';
import type { DeliverySettings, Envelope, QueueEvent, Schedule } from '../../../../src/domain/queue/index.js';
import type { AccountId, DlqId, MessageId, ScheduleId } from '../../../../src/kernel/index.js';
import { PLAIN_DELIVERY } from '../../../support/plain-delivery.js';
import { APPLICATION_EVENTS } from './application-values.js';
import { GOLDEN_WORKFLOW_EVENTS } from './workflow-golden-values.js';

const atMs = 1_767_225_600_000;
const id = 'msg_26hZCxZCuWyyTWPmSVBrNC1RADwp' as MessageId;
const other = 'msg_7YoJxFpwkEy5zBp3V1QyTrSbGi3d' as MessageId;
const dlqId = '1767225600000-7' as DlqId;
const scheduleId = 'nightly.report' as ScheduleId;
const content = Uint8Array.from([0, 1, 127, 128, 255]);

const full: DeliverySettings = {
  method: 'PATCH',
  header: [
    ['Content-Type', 'application/json'],
    ['X-Größe', 'groß'],
    ['X-Broken', '\ud800x'],
  ],
  maxRetries: 5,
  retryDelay: 'pow(2, retried) * 1000',
  timeoutSeconds: 30,
  delaySeconds: 60,
  callback: {
    url: 'https://back.example/',
    settings: { ...PLAIN_DELIVERY, failureCallback: { url: 'http://a', settings: PLAIN_DELIVERY } },
  },
  failureCallback: { url: 'https://fail.example/', settings: PLAIN_DELIVERY },
  flowControl: { key: 'mail', parallelism: undefined, rate: 10, periodSeconds: 3600 },
  labels: ['one', 'two'],
  redact: { body: true, allHeaders: false, headers: ['Authorization'] },
};

const envelope: Envelope = {
  url: 'https://api.example/hook?a=1',
  settings: PLAIN_DELIVERY,
  queueName: undefined,
  scheduleId: undefined,
  topicName: undefined,
  endpointName: undefined,
  callerIp: '192.0.2.1',
  isAlias: false,
  callbackOf: undefined,
};

const fullEnvelope: Envelope = {
  url: 'https://api.example/hook',
  settings: full,
  queueName: 'orders',
  scheduleId,
  topicName: 'all',
  endpointName: 'first',
  callerIp: '2001:db8::1',
  isAlias: true,
  callbackOf: other,
};

const schedule: Omit<Schedule, 'body' | 'lastTickAtMs' | 'lastOutcomes'> = {
  id: scheduleId,
  cron: 'CRON_TZ=Europe/Vienna 0 3 * * *',
  destination: { kind: 'url', url: 'https://api.example/report' },
  settings: PLAIN_DELIVERY,
  ownHeaders: [],
  queueName: undefined,
  callerIp: '192.0.2.1',
  isAlias: false,
  isPaused: false,
  createdAtMs: atMs,
  nextTickAtMs: atMs + 60_000,
};

/** One of each type. */
export const GOLDEN_EVENTS: { readonly [Type in QueueEvent['type']]: Extract<QueueEvent, { type: Type }> } = {
  ...APPLICATION_EVENTS,
  MessageAccepted: {
    type: 'MessageAccepted',
    id,
    atMs,
    envelope: fullEnvelope,
    body: { number: 70_000, bytes: content.length, content },
    notBeforeMs: atMs + 60_000,
    deduplication: 'a1b2',
    retryOf: dlqId,
    holdsPlaceOf: other,
  },
  AttemptStarted: { type: 'AttemptStarted', id, atMs, retried: 2, restarts: 1 },
  MessageDelivered: { type: 'MessageDelivered', id, atMs, status: 200, durationMs: 12.5 },
  AttemptFailed: {
    type: 'AttemptFailed',
    id,
    atMs,
    status: 503,
    durationMs: 3000,
    error: 'HTTP status 503',
    header: [
      ['Retry-After', '5'],
      ['Via', 'a'],
      ['Via', 'b'],
    ],
    response: content,
    nextAtMs: atMs + 5000,
  },
  MessageDeadLettered: {
    type: 'MessageDeadLettered',
    id,
    dlqId,
    atMs,
    status: 0,
    error: 'connection refused',
    header: [],
    response: { number: 0, bytes: 0, content: undefined },
  },
  CancelRequested: { type: 'CancelRequested', id, atMs },
  MessageCancelled: { type: 'MessageCancelled', id, atMs },
  DlqDeleted: { type: 'DlqDeleted', dlqIds: [dlqId], atMs },
  DlqExpired: { type: 'DlqExpired', dlqIds: [dlqId, `${atMs}-8` as DlqId], atMs },
  DlqRetried: { type: 'DlqRetried', dlqId, as: other, atMs },
  GroupSet: {
    type: 'GroupSet',
    name: 'all',
    endpoints: [
      { url: 'https://one.example/', name: 'first' },
      { url: 'https://two.example/', name: undefined },
    ],
    defaults: [['svc-retries', '5']],
    atMs,
  },
  GroupDeleted: { type: 'GroupDeleted', name: 'all', atMs },
  QueueSet: { type: 'QueueSet', name: 'orders', parallelism: 2, isPaused: true, atMs },
  QueueDeleted: { type: 'QueueDeleted', name: 'orders', atMs },
  ScheduleSet: {
    type: 'ScheduleSet',
    schedule: { ...schedule, destination: { kind: 'group', name: 'all' }, ownHeaders: [['svc-delay', '5s']] },
    body: { number: 3, bytes: content.length, content },
    atMs,
  },
  ScheduleDeleted: { type: 'ScheduleDeleted', id: scheduleId, atMs },
  SchedulePaused: { type: 'SchedulePaused', id: scheduleId, isPaused: true, nextTickAtMs: atMs + 1, atMs },
  ScheduleFired: {
    type: 'ScheduleFired',
    id: scheduleId,
    tickAtMs: atMs,
    messages: [id, other],
    nextTickAtMs: atMs + 60_000,
    atMs: atMs + 12,
  },
  ScheduleSkipped: {
    type: 'ScheduleSkipped',
    id: scheduleId,
    tickAtMs: atMs,
    nextTickAtMs: atMs + 60_000,
    reason: 'no-destination',
    atMs,
  },
  FlowPaused: { type: 'FlowPaused', key: 'größer', isPaused: true, atMs },
  FlowPinned: { type: 'FlowPinned', key: 'mail', parallelism: 3, rate: undefined, periodSeconds: undefined, atMs },
  FlowUnpinned: { type: 'FlowUnpinned', key: 'mail', parallelism: true, rate: false, atMs },
  FlowReset: { type: 'FlowReset', key: 'mail', all: true, atMs },
  IntakeTaken: { type: 'IntakeTaken', position: 4_294_967_296, atMs },
  OutboxTaken: { type: 'OutboxTaken', source: 'kv:db-aaaabbbbccccdddd:0', sequence: 1_810_000_000_000_000, atMs },
  DailyLimitReached: { type: 'DailyLimitReached', limit: 1000, messages: 1001, atMs },
  MessageRestored: {
    type: 'MessageRestored',
    id,
    envelope,
    body: { number: 9, bytes: 120 },
    createdAtMs: atMs,
    notBeforeMs: atMs,
    dueAtMs: atMs + 12_000,
    status: 'active',
    retried: 1,
    restarts: 0,
    sinceMs: atMs + 1000,
    isCancelRequested: true,
    order: 255,
    holdsPlaceOf: undefined,
  },
  DlqRestored: {
    type: 'DlqRestored',
    entry: {
      dlqId,
      messageId: id,
      envelope,
      body: { number: 9, bytes: 120 },
      createdAtMs: atMs,
      notBeforeMs: atMs,
      failedAtMs: atMs + 9,
      retried: 3,
      response: { status: 500, header: [['A', 'b']], body: { number: 10, bytes: 4 }, error: 'HTTP status 500' },
    },
  },
  GroupRestored: {
    type: 'GroupRestored',
    group: {
      name: 'all',
      endpoints: [{ url: 'https://one.example/', name: undefined }],
      defaults: [],
      createdAtMs: atMs,
      updatedAtMs: atMs + 1,
    },
  },
  QueueRestored: {
    type: 'QueueRestored',
    name: 'orders',
    parallelism: 1,
    isPaused: false,
    createdAtMs: atMs,
    updatedAtMs: atMs + 1,
    places: [
      [id, 0],
      [other, 2],
    ],
  },
  ScheduleRestored: {
    type: 'ScheduleRestored',
    schedule: {
      ...schedule,
      body: { number: 0, bytes: 0 },
      lastTickAtMs: atMs,
      lastOutcomes: new Map([
        [id, 'IN_PROGRESS'],
        [other, 'FAIL'],
      ]),
    },
  },
  FlowRestored: {
    type: 'FlowRestored',
    key: 'mail',
    parallelism: undefined,
    rate: 10,
    periodSeconds: 60,
    isPaused: false,
    isParallelismPinned: false,
    isRatePinned: true,
    active: 1,
    started: 4,
    windowStartedAtMs: atMs,
    usedAtMs: atMs + 1,
  },
  DeduplicationRestored: { type: 'DeduplicationRestored', entries: [['a1b2', id, atMs]] },
  AcceptedIdsRestored: { type: 'AcceptedIdsRestored', generation: 29_453_760, packed: content },
  AccountRestored: {
    type: 'AccountRestored',
    nextBody: 11,
    nextOrder: 256,
    nextDlq: 8,
    intakePosition: 0,
    nowMs: atMs,
    day: 20_454,
    messagesToday: 300,
    month: 24_312,
    messagesThisMonth: 70_000,
    isDailyLimitReached: false,
  },
  BreakerRulesSet: {
    type: 'BreakerRulesSet',
    rules: { failures: 10, seconds: 60, probeSeconds: 30, disableAfterSeconds: 432_000, messages: 'dlq' },
    atMs,
  },
  BreakerChanged: {
    type: 'BreakerChanged',
    breaker: {
      url: 'https://api.example/hook',
      state: 'open',
      reason: 'failures',
      failures: 12,
      failingSinceMs: atMs,
      changedAtMs: atMs,
      nextProbeAtMs: atMs,
      probes: 2,
      probe: id,
      status: 503,
      error: 'HTTP status 503',
    },
    atMs,
  },
  ...GOLDEN_WORKFLOW_EVENTS,
};

export const GOLDEN_INTAKE: IntakeRecord = {
  account: 'ac-aaaabbbbccccdddd' as AccountId,
  items: [
    {
      id,
      destination: { kind: 'url', url: 'https://api.example/hook', settings: full },
      queueName: 'orders',
      body: content,
      notBeforeMs: atMs,
      deduplication: undefined,
      callerIp: '192.0.2.1',
      isAlias: true,
    },
    {
      id: other,
      destination: {
        kind: 'group',
        name: 'all',
        raw: { headers: [['svc-retries', '1']], query: [['svc-delay', '3s']] },
      },
      queueName: undefined,
      body: new Uint8Array(0),
      notBeforeMs: undefined,
      deduplication: { id: 'content' },
      callerIp: '192.0.2.1',
      isAlias: false,
    },
  ],
};
