/** The reading of each kind of alert rule. */
import { expect } from 'chai';
import { firingSubjects } from '../../../../src/actors/alerts/index.js';
import {
  type AlertRule,
  type ControlEvent,
  ControlState,
  evolve,
  type Trigger,
} from '../../../../src/domain/control/index.js';
import type { QueueCommand, QueueReply } from '../../../../src/domain/queue/index.js';
import type { AlertRuleId, TriggerId } from '../../../../src/kernel/index.js';
import type {
  AuditExportLag,
  AuditWatch,
  CopyReading,
  Counts,
  LogEvent,
  MetricReadings,
  TriggerLag,
} from '../../../../src/ports/index.js';
import { uuidOf } from '../../../../src/protocol/index.js';
import { databaseCreated, db, INSTALLED, NOW_MS } from '../../../spec/control/given.js';
import { alertRule, atMs, bk, keyTrigger, settings } from '../../../spec/control/management-given.js';
import { selfSignedCertificate } from '../../../support/self-signed-certificate.js';

type Ports = Parameters<typeof firingSubjects>[1];

const HOUR_MS = 3_600_000;

const counts = (count: number): Counts => ({ counts: { '500': count }, isWhole: true });
const failure = (url: string, labels: readonly string[] = []) =>
  ({ envelope: { url, settings: { labels } } }) as object as LogEvent;

interface Said {
  readonly events?: readonly ControlEvent[];
  readonly readings?: MetricReadings;
  readonly isFull?: boolean;
  readonly alarms?: readonly string[];
  readonly dead?: Counts;
  readonly deadNotices?: Counts;
  readonly failures?: readonly LogEvent[];
  readonly failedRuns?: number;
  readonly deliveries?: number;
  readonly replies?: Partial<Record<QueueCommand['type'], QueueReply>>;
  readonly certificate?: Buffer;
  readonly copy?: CopyReading;
  readonly auditFiles?: ReturnType<AuditWatch['failure']>;
  readonly lags?: Readonly<Record<string, TriggerLag>>;
  readonly auditExport?: Partial<AuditExportLag>;
}

/** @returns the texts of the alerts that fire */
async function texts(over: Partial<AlertRule>, said: Said = {}): Promise<string[]> {
  const state = new ControlState();
  for (const event of [...INSTALLED, ...(said.events ?? [])]) evolve(state, event);
  const log = {
    dlqCounts: async (_account: unknown, { label }: { label?: readonly string[] }) =>
      (label === undefined ? said.dead : said.deadNotices) ?? counts(0),
    events: async () => ({ events: said.failures ?? [], cursor: undefined }),
    eventCounts: async () => counts(said.deliveries ?? 0),
    dlq: () => Promise.reject(new Error('not asked')),
  };
  const runs = {
    runEvents: async () => ({ events: Array.from({ length: said.failedRuns ?? 0 }), cursor: undefined }),
  };
  const ports = {
    clock: { nowMs: () => NOW_MS, monotonicMs: () => 0 },
    cluster: { look: async () => ({ alarms: said.alarms ?? [] }) },
    metrics: { readings: () => said.readings ?? {} },
    storage: { isFull: () => said.isFull === true },
    messageLog: log,
    runLog: runs,
    queues: {
      ask: async (_account: unknown, { type }: QueueCommand) =>
        said.replies?.[type] ?? (type === 'GetPosition' ? { type: 'Position', position: 7 } : rejected),
    },
    auditExports: { lagOf: async () => ({ lagMs: 0, undeliveredMs: 0, position: 3, ...said.auditExport }) },
    triggers: { lagOf: async ({ id }: Trigger) => said.lags?.[id] },
    state: () => state,
    certificate: async () => said.certificate,
    copy: { reading: () => said.copy },
    auditFiles: { failure: () => said.auditFiles },
  };
  const rule = alertRule('al-one' as AlertRuleId, { windowSeconds: 0, ...over });
  return (await firingSubjects(rule, ports as object as Ports)).map(({ text }) => text);
}

const rejected: QueueReply = { type: 'Rejected', reason: 'NOT_FOUND', message: 'not there' };

describe('the reading of an alert rule', () => {
  it('cluster: each alarm is a subject', async () => {
    expect(await texts({ kind: 'cluster' }, { alarms: ['one', 'two'] })).to.deep.equal(['one', 'two']);
  });

  it('disk: the used share, a full disk, and the total of all journals', async () => {
    const disk = { kind: 'disk', threshold: 90 } as const;
    const used = (free: number) => ({ millrace_disk_size_bytes: 1000, millrace_disk_free_bytes: free });
    expect(await texts(disk, { readings: used(101) })).to.deep.equal([]);
    expect(await texts(disk, { readings: used(100) })).to.deep.equal(['the disk of the data directory is 90 % full']);
    expect((await texts(disk, { isFull: true }))[0]).to.match(/^the disk is full/);
    const excess = { millrace_journal_excess_bytes: 1 };
    expect(await texts(disk, { readings: excess })).to.deep.equal(['all journals together exceed their size limit']);
  });

  it('memory: each limited part at or above the threshold', async () => {
    const readings = { millrace_request_bytes: 95, millrace_request_limit_bytes: 100, millrace_data_bytes: 5 };
    expect(await texts({ kind: 'memory', threshold: 90 }, { readings })).to.deep.equal([
      'requests use 95 % of their memory limit',
    ]);
  });

  it('read-models: the lags of this process, and of lists in another one', async () => {
    const lag = { kind: 'read-models', threshold: 60 } as const;
    const readings = { millrace_statistics_behind_seconds: 61 };
    expect(await texts(lag, { readings })).to.deep.equal(['statistics are 61 seconds behind']);
    const dead = { ...counts(0), behind: { positions: 9, ms: 70_000 } };
    expect(await texts(lag, { dead })).to.deep.equal(['lists and logs are 70 seconds behind']);
  });

  it('certificate: the days that are left; without TLS nothing fires', async () => {
    const certificate = Buffer.from((await selfSignedCertificate()).certificate);
    expect(await texts({ kind: 'certificate', threshold: 1 })).to.deep.equal([]);
    const [text] = await texts({ kind: 'certificate', threshold: 100_000 }, { certificate });
    expect(text).to.match(/^the certificate of the endpoints is valid until /);
  });

  it('dead-letters: messages of the window, without notices of alerts', async () => {
    const dead = { kind: 'dead-letters', threshold: 3, windowSeconds: 600 } as const;
    expect(await texts(dead, { dead: counts(4), deadNotices: counts(2) })).to.deep.equal([]);
    expect(await texts(dead, { dead: counts(5), deadNotices: counts(2) })).to.deep.equal([
      '3 messages reached the DLQ within 10 minutes',
    ]);
  });

  it('fails while the read model is behind, because an old answer would end alerts', async () => {
    const behind = { ...counts(0), behind: { positions: 1, ms: 5 } };
    const error = await texts({ kind: 'dead-letters', windowSeconds: 600 }, { dead: behind }).catch(String);
    expect(error).to.equal('Error: the read model is behind');
  });

  it('destination: each host with so many failed attempts, without notices of alerts', async () => {
    const failures = [
      ...Array.from({ length: 3 }, () => failure('https://pay.example/x')),
      failure('https://mail.example/y'),
      ...Array.from({ length: 9 }, () => failure('https://pager.example/z', ['millrace-alert'])),
    ];
    expect(await texts({ threshold: 2, windowSeconds: 300 }, { failures })).to.deep.equal([
      '3 attempts at pay.example failed within 5 minutes',
    ]);
  });

  for (const [kind, what] of [
    ['queue-age', 'queue'],
    ['flow-age', 'flow control key'],
  ] as const) {
    it(`${kind}: the oldest due message`, async () => {
      const rule = { kind, target: 'letters', threshold: 300 };
      const waiting = (waited: number, notBeforeMs = 0) => {
        const message = { createdAtMs: NOW_MS - waited, notBeforeMs };
        const reply = { type: 'Messages', messages: [message], counts: [], after: undefined };
        return { replies: { ListMessages: reply as object as QueueReply } };
      };
      expect(await texts(rule, waiting(299_000))).to.deep.equal([]);
      expect(await texts(rule, waiting(HOUR_MS, NOW_MS - 1000)), 'due a second ago').to.deep.equal([]);
      expect(await texts(rule, waiting(300_000))).to.deep.equal([
        `the oldest message of the ${what} letters has waited for 5 minutes`,
      ]);
    });
  }

  it('failed-runs: runs that failed within the window', async () => {
    const runs = { kind: 'failed-runs', threshold: 2, windowSeconds: 3600 } as const;
    expect(await texts(runs, { failedRuns: 1 })).to.deep.equal([]);
    expect(await texts(runs, { failedRuns: 2 })).to.deep.equal(['at least 2 runs failed within 60 minutes']);
  });

  it('cluster and backup-age: the copy elsewhere, from five minutes and from the threshold on', async () => {
    const copy = (minutes: number): CopyReading => {
      const failure = minutes > 60 ? 'no connection' : undefined;
      return { place: 's3://backups/one', ageMs: minutes * 60_000, fullAgeMs: undefined, failure };
    };
    const old = 'the copy at s3://backups/one is 5 minutes old';
    expect(await texts({ kind: 'cluster' }, { copy: copy(4) })).to.deep.equal([]);
    expect(await texts({ kind: 'cluster' }, { alarms: ['one'], copy: copy(5) })).to.deep.equal(['one', old]);
    const hours = 'the copy at s3://backups/one is 3 hours old: no connection';
    const rule = { kind: 'backup-age', threshold: 3 } as const;
    expect(await texts(rule, { copy: copy(180) })).to.deep.equal([hours]);
    expect(await texts(rule, { copy: copy(179) })).to.deep.equal([]);
  });

  it('cluster: the audit log has not been written to its files for five minutes', async () => {
    const auditFiles = (minutes: number) => ({ place: '/audit', cause: 'no space', ageMs: minutes * 60_000 });
    const text = 'the audit log has not been written to /audit for 5 minutes: no space';
    expect(await texts({ kind: 'cluster' }, { auditFiles: auditFiles(4) })).to.deep.equal([]);
    expect(await texts({ kind: 'cluster' }, { auditFiles: auditFiles(5) })).to.deep.equal([text]);
  });

  it('backup-age: databases with daily backups, or the given one, by the last completed backup', async () => {
    const rule = { kind: 'backup-age', threshold: 30 } as const;
    const old = { ...databaseCreated('old'), createdAtMs: NOW_MS - 40 * HOUR_MS } as ControlEvent;
    const daily: ControlEvent = {
      type: 'DatabaseSettingsSet',
      database: db('old'),
      settings: settings({ hasDailyBackup: true }),
      atMs,
    };
    expect(await texts(rule, { events: [old] }), 'no daily backups').to.deep.equal([]);
    expect(await texts(rule, { events: [old, daily] })).to.deep.equal(['the database old has no completed backup']);
    const { account } = alertRule('al-x' as AlertRuleId);
    const made = (hours: number): ControlEvent[] => [
      {
        type: 'BackupStarted',
        id: bk('one'),
        database: db('old'),
        account,
        name: 'x',
        isDaily: true,
        createdAtMs: NOW_MS - hours * HOUR_MS,
      },
      { type: 'BackupEnded', backup: bk('one'), state: 'completed', bytes: 1, manifests: ['m'], reason: '', atMs },
    ];
    expect(await texts(rule, { events: [old, daily, ...made(29)] })).to.deep.equal([]);
    expect(await texts(rule, { events: [old, daily, ...made(31)] })).to.deep.equal([
      'the last completed backup of the database old is 31 hours old',
    ]);
    expect(await texts({ ...rule, target: uuidOf(db('old')) }, { events: [old] })).to.have.lengthOf(1);
  });

  it('stopped-destination: each destination with an open or disabled breaker, or the one of the rule', async () => {
    const stopped = (url: string, state: string) => ({ url, state, failures: 12, waiting: 1 });
    const breakers = [stopped('https://a.example/x', 'open'), stopped('https://b.example/y', 'disabled')];
    const reply = { type: 'Breakers', rules: undefined, breakers } as object as QueueReply;
    const rule = { kind: 'stopped-destination', target: '', threshold: 0, windowSeconds: 0 } as const;
    const open = 'the destination https://a.example/x is open: 12 failures in a row, 1 message waiting';
    const disabled = 'the destination https://b.example/y is disabled: 12 failures in a row, 1 message waiting';
    expect(await texts(rule, { replies: { ListBreakers: reply } })).to.deep.equal([open, disabled]);
    const target = 'https://b.example/y';
    expect(await texts({ ...rule, target }, { replies: { ListBreakers: reply } })).to.deep.equal([disabled]);
  });

  it('schedule: too few deliveries of the window, or no such schedule', async () => {
    const rule = { kind: 'schedule', target: 'nightly', threshold: 1, windowSeconds: 86_400 } as const;
    const has = (over: object) => {
      const schedule = { createdAtMs: NOW_MS - 48 * HOUR_MS, isPaused: false, ...over };
      const reply = { type: 'Schedules', schedules: [{ schedule }] };
      return { replies: { GetSchedule: reply as object as QueueReply } };
    };
    expect(await texts(rule)).to.deep.equal(['there is no schedule nightly']);
    expect(await texts(rule, { ...has({}), deliveries: 1 })).to.deep.equal([]);
    expect(await texts(rule, has({ isPaused: true }))).to.deep.equal([]);
    expect(await texts(rule, has({ createdAtMs: NOW_MS - HOUR_MS })), 'younger than the window').to.deep.equal([]);
    expect(await texts(rule, has({}))).to.deep.equal([
      'the schedule nightly had 0 successful deliveries within 24 hours',
    ]);
  });

  it('trigger-lag: triggers that are behind or lost, unless they are paused; or no such trigger', async () => {
    const rule = { kind: 'trigger-lag', threshold: 60 } as const;
    const made = (id: string, over: Partial<Trigger> = {}): ControlEvent => ({
      type: 'TriggerSet',
      trigger: keyTrigger(id as TriggerId, { name: '', ...over }),
      atMs,
    });
    const lags = {
      'tr-late': { entries: 3, lagMs: 61_000 },
      'tr-soon': { entries: 3, lagMs: 59_000 },
      'tr-lost': { entries: 3, lagMs: 5_000, lost: 'skip to a later moment' },
      'tr-paused': { entries: 3, lagMs: 900_000 },
    };
    const events = [made('tr-late', { name: 'orders' }), made('tr-soon'), made('tr-lost')];
    const said = { events: [...events, made('tr-paused', { isPaused: true })], lags };
    expect(await texts(rule, said)).to.deep.equal([
      'the trigger orders is 61 seconds behind',
      'the trigger tr-lost is lost: skip to a later moment',
    ]);
    expect(await texts({ ...rule, target: 'tr-soon' }, said)).to.deep.equal([]);
    expect(await texts({ ...rule, target: 'tr-none' }, said)).to.deep.equal(['there is no trigger tr-none']);
  });

  it('audit-export: the oldest change that the address has not acknowledged, or that the queue has not accepted', async () => {
    const rule = { kind: 'audit-export', threshold: 300 } as const;
    const account = alertRule('al-one' as AlertRuleId).account;
    const url = 'https://sink.example/audit';
    const events: ControlEvent[] = [{ type: 'AuditExportSet', account, url, position: 1, atMs }];
    const of = (auditExport: Partial<AuditExportLag>) => texts(rule, { events, auditExport });
    expect(await texts(rule, { auditExport: { lagMs: 900_000 } }), 'without an export').to.deep.equal([]);
    expect(await of({ lagMs: 299_000, undeliveredMs: 299_000 })).to.deep.equal([]);
    expect(await of({ lagMs: 300_000, problem: 'the account is suspended' })).to.deep.equal([
      `${url} has not been sent a change of the audit log for 5 minutes: the account is suspended`,
    ]);
    expect(await of({ lagMs: 0, undeliveredMs: 7_200_000 })).to.deep.equal([
      `${url} has not acknowledged a change of the audit log for 2 hours`,
    ]);
  });
});
