/**
 * The readings that alert rules compare with their thresholds: for each kind the subjects for which a rule is true now.
 * Disk, memory and certificate are those of this process; all other readings are of the installation or the account.
 */
import { X509Certificate } from 'node:crypto';
import {
  type AlertKind,
  type AlertRule,
  type Backup,
  type ControlState,
  type Database,
  type FiringSubject,
  MAX_ALERT_SUBJECTS,
} from '../../domain/control/index.js';
import type { MessageFilter, QueueCommand, QueueReplyOf } from '../../domain/queue/index.js';
import { type AccountId, mailAddressIn, type ScheduleId } from '../../kernel/index.js';
import {
  type AuditExports,
  type AuditWatch,
  type Clock,
  type ClusterWatch,
  type CopyReading,
  type CopyWatch,
  type Counts,
  LAGGING_MODELS,
  largestReading,
  type MaybeBehind,
  MEMORY_PARTS,
  type MeasuredProcess,
  type MessageLog,
  OLD_COPY_MS,
  type QueueGateway,
  type RunLog,
  type StorageGauge,
  type Triggers,
} from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';
import { MAX_GROUPED_ATTEMPTS } from './alert-limits.js';
import { NOTICE_LABEL, queuesOf } from './alert-notices.js';

export interface AlertReadingPorts {
  readonly clock: Clock;
  /** Undefined for a single process with its own nats-server. */
  readonly cluster: ClusterWatch | undefined;
  readonly metrics: MeasuredProcess;
  readonly storage: StorageGauge;
  readonly messageLog: MessageLog;
  readonly runLog: RunLog;
  readonly queues: Pick<QueueGateway, 'ask'>;
  readonly triggers: Pick<Triggers, 'lagOf'>;
  readonly auditExports: Pick<AuditExports, 'lagOf'>;
  readonly state: () => ControlState;
  /** Undefined without a place of backups. */
  readonly copy: CopyWatch | undefined;
  /** Undefined without files of the audit log. */
  readonly auditFiles: AuditWatch | undefined;
  /** The certificate file of the endpoints, as PEM; undefined without TLS. */
  certificate(): Promise<Buffer | undefined>;
}

type Reading = (rule: AlertRule, ports: AlertReadingPorts) => Promise<readonly FiringSubject[]>;

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const READINGS: Readonly<Record<AlertKind, Reading>> = {
  cluster: clusterSubjects,
  disk: async (rule, ports) => [...diskSubjects(rule, ports)],
  memory: async (rule, ports) => [...memorySubjects(rule, ports)],
  'read-models': laggingModels,
  certificate: certificateSubjects,
  'dead-letters': deadLetters,
  destination: failingDestinations,
  'queue-age': (rule, ports) => oldestMessage(rule, ports, 'queue', { queueName: [rule.target] }),
  'flow-age': (rule, ports) => oldestMessage(rule, ports, 'flow control key', { flowControlKey: [rule.target] }),
  'failed-runs': failedRuns,
  'backup-age': async (rule, ports) => [...oldBackups(rule, ports)],
  schedule: silentSchedule,
  'trigger-lag': laggingTriggers,
  'stopped-destination': stoppedDestinations,
  'audit-export': lateAuditExport,
};

/** @throws MillraceError when the reading is not available; the rule's alerts then stay as they are */
export function firingSubjects(rule: AlertRule, ports: AlertReadingPorts): Promise<readonly FiringSubject[]> {
  return READINGS[rule.kind](rule, ports);
}

async function clusterSubjects(_rule: AlertRule, { cluster, copy, auditFiles }: AlertReadingPorts) {
  const alarms = (await cluster?.look())?.alarms ?? [];
  const subjects = alarms.map((text) => ({ subject: text, text }));
  const reading = copy?.reading();
  if (reading !== undefined && reading.ageMs >= OLD_COPY_MS) subjects.push(oldCopy(reading));
  const failure = auditFiles?.failure();
  if (failure !== undefined && failure.ageMs >= OLD_COPY_MS) {
    const { place, ageMs, cause } = failure;
    const text = `the audit log has not been written to ${place} for ${inWords(Math.floor(ageMs / 1000))}: ${cause}`;
    subjects.push({ subject: place, text });
  }
  return subjects;
}

function oldCopy({ place, ageMs, failure }: CopyReading): FiringSubject {
  const cause = failure === undefined ? '' : `: ${failure}`;
  return { subject: place, text: `the copy at ${place} is ${inWords(Math.floor(ageMs / 1000))} old${cause}` };
}

function* diskSubjects({ threshold }: AlertRule, { metrics, storage }: AlertReadingPorts): Iterable<FiringSubject> {
  const readings = metrics.readings();
  if (storage.isFull()) {
    yield { subject: 'disk', text: 'the disk is full: requests that grow data are refused until there is room' };
  } else {
    const size = largestReading(readings, 'millrace_disk_size_bytes');
    const free = largestReading(readings, 'millrace_disk_free_bytes');
    const used = size === 0 ? 0 : Math.floor((100 * (size - free)) / size);
    if (used >= threshold) yield { subject: 'disk', text: `the disk of the data directory is ${used} % full` };
  }
  if (largestReading(readings, 'millrace_journal_excess_bytes') === 0) return;
  yield { subject: 'journals', text: 'all journals together exceed their size limit' };
}

function* memorySubjects({ threshold }: AlertRule, { metrics }: AlertReadingPorts): Iterable<FiringSubject> {
  const readings = metrics.readings();
  for (const [part, used, limit] of MEMORY_PARTS) {
    const most = largestReading(readings, limit);
    const share = most === 0 ? 0 : Math.floor((100 * largestReading(readings, used)) / most);
    if (share >= threshold) yield { subject: part, text: `${part} use ${share} % of their memory limit` };
  }
}

/** The read models may be in another process: a question with the present position tells how far they are behind. */
async function laggingModels({ account, threshold }: AlertRule, ports: AlertReadingPorts) {
  const readings = ports.metrics.readings();
  const lags = LAGGING_MODELS.map(([models, gauge]) => [models, largestReading(readings, gauge)] as const);
  const [queue] = queuesOf(ports.state(), account);
  if (queue !== undefined) {
    const seen = await positionOf(ports, queue);
    const { behind } = await ports.messageLog.dlqCounts(queue, { fromMs: ports.clock.nowMs() }, seen);
    lags.push(['lists and logs', (behind?.ms ?? 0) / 1000]);
  }
  return lags
    .filter(([, seconds]) => seconds >= threshold)
    .map(([models, seconds]) => ({ subject: models, text: `${models} are ${Math.floor(seconds)} seconds behind` }));
}

async function certificateSubjects({ threshold }: AlertRule, { certificate, clock }: AlertReadingPorts) {
  const file = await certificate();
  if (file === undefined) return [];
  const { validTo } = new X509Certificate(file);
  const left = Math.floor((Date.parse(validTo) - clock.nowMs()) / DAY_MS);
  if (left >= threshold) return [];
  return [{ subject: 'certificate', text: `the certificate of the endpoints is valid until ${validTo}` }];
}

/** Notices that could not be delivered are left out, because each would raise the next alert. */
async function deadLetters({ account, threshold, windowSeconds }: AlertRule, ports: AlertReadingPorts) {
  const fromMs = ports.clock.nowMs() - windowSeconds * 1000;
  let count = 0;
  for (const queue of queuesOf(ports.state(), account)) {
    const seen = await positionOf(ports, queue);
    const all = current(await ports.messageLog.dlqCounts(queue, { fromMs }, seen));
    const notices = await ports.messageLog.dlqCounts(queue, { fromMs, label: [NOTICE_LABEL] }, seen);
    count += sumOf(all) - sumOf(notices);
  }
  if (count < threshold) return [];
  return [
    { subject: 'dead letters', text: `${counted(count, 'message')} reached the DLQ within ${inWords(windowSeconds)}` },
  ];
}

async function failingDestinations(rule: AlertRule, ports: AlertReadingPorts) {
  const { account, target, threshold, windowSeconds } = rule;
  const fromMs = ports.clock.nowMs() - windowSeconds * 1000;
  const filter: MessageFilter = { fromMs, ...(target !== '' && { host: [target] }) };
  const failures = new Map<string, number>();
  for (const queue of queuesOf(ports.state(), account)) {
    const query = { filter, states: ['ERROR'], order: 'latestFirst', count: MAX_GROUPED_ATTEMPTS } as const;
    const seen = await positionOf(ports, queue);
    const page = await ports.messageLog.events(queue, { ...query, cursor: undefined, trimBytes: 0 }, seen);
    const { events } = current(page);
    for (const { envelope } of events) {
      const isNotice = envelope.settings.labels.includes(NOTICE_LABEL);
      if (isNotice || mailAddressIn(envelope.url) !== undefined) continue;
      const { host } = new URL(envelope.url);
      failures.set(host, (failures.get(host) ?? 0) + 1);
    }
  }
  return [...failures]
    .filter(([, count]) => count >= threshold)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_ALERT_SUBJECTS)
    .map(([host, count]) => ({
      subject: host,
      text: `${counted(count, 'attempt')} at ${host} failed within ${inWords(windowSeconds)}`,
    }));
}

async function oldestMessage(rule: AlertRule, ports: AlertReadingPorts, kind: string, filter: MessageFilter) {
  const nowMs = ports.clock.nowMs();
  let oldestMs = nowMs;
  for (const queue of queuesOf(ports.state(), rule.account)) {
    const list = { states: ['WAITING', 'DELIVERING', 'RETRYING'], order: 'earliestFirst', count: 1 } as const;
    const command = { type: 'ListMessages', filter, ...list, after: undefined } as const;
    const { messages } = await asked(ports, queue, command, 'Messages');
    for (const { createdAtMs, notBeforeMs } of messages)
      oldestMs = Math.min(oldestMs, Math.max(createdAtMs, notBeforeMs));
  }
  const seconds = Math.floor((nowMs - oldestMs) / 1000);
  if (seconds < rule.threshold) return [];
  const text = `the oldest message of the ${kind} ${rule.target} has waited for ${inWords(seconds)}`;
  return [{ subject: rule.target, text }];
}

async function failedRuns({ account, target, threshold, windowSeconds }: AlertRule, ports: AlertReadingPorts) {
  const fromMs = ports.clock.nowMs() - windowSeconds * 1000;
  const filter = { fromMs, ...(target !== '' && { url: [target] }) };
  let count = 0;
  for (const queue of queuesOf(ports.state(), account)) {
    const query = { filter, states: ['RUN_FAILED'], order: 'latestFirst', count: threshold, trimBytes: -1 } as const;
    const seen = await positionOf(ports, queue);
    count += current(await ports.runLog.runEvents(queue, { ...query, cursor: undefined }, seen)).events.length;
  }
  if (count < threshold) return [];
  const which = target === '' ? '' : ` of ${target}`;
  const text = `at least ${counted(threshold, 'run')}${which} failed within ${inWords(windowSeconds)}`;
  return [{ subject: target === '' ? 'failed runs' : target, text }];
}

async function stoppedDestinations({ account, target }: AlertRule, ports: AlertReadingPorts) {
  const subjects: FiringSubject[] = [];
  for (const queue of queuesOf(ports.state(), account)) {
    const { breakers } = await asked(ports, queue, { type: 'ListBreakers', onlyStopped: true }, 'Breakers');
    for (const { url, state, failures, waiting } of breakers) {
      if (target !== '' && url !== target) continue;
      const count = `${counted(failures, 'failure')} in a row, ${counted(waiting, 'message')} waiting`;
      subjects.push({ subject: url, text: `the destination ${url} is ${state}: ${count}` });
    }
  }
  return subjects.slice(0, MAX_ALERT_SUBJECTS);
}

/** Without a target: databases with daily backups, and for the first account the copy of the installation. A database is as old as its last completed backup, or itself. */
function* oldBackups(rule: AlertRule, { state, clock, copy }: AlertReadingPorts): Iterable<FiringSubject> {
  const reading = rule.target === '' && rule.account === state().firstStart?.account ? copy?.reading() : undefined;
  if (reading !== undefined && reading.ageMs >= rule.threshold * HOUR_MS) yield oldCopy(reading);
  const { databases, backups } = databasesOf(state(), rule);
  for (const database of databases) {
    const newest = backups(database).find(({ state: is }) => is === 'completed');
    const hours = Math.floor((clock.nowMs() - (newest?.createdAtMs ?? database.createdAtMs)) / HOUR_MS);
    if (hours < rule.threshold) continue;
    const text =
      newest === undefined
        ? `the database ${database.name} has no completed backup`
        : `the last completed backup of the database ${database.name} is ${counted(hours, 'hour')} old`;
    yield { subject: database.name, text };
  }
}

function databasesOf(state: ControlState, { account, target }: AlertRule) {
  const databases: Database[] = state
    .databasesOf(account)
    .filter(({ id, settings }) => (target === '' ? settings?.hasDailyBackup === true : uuidOf(id) === target));
  return { databases, backups: ({ id }: Database): Backup[] => state.backups.of(id) };
}

/** A schedule that is younger than the period, or paused, is not late. */
async function silentSchedule({ account, target, threshold, windowSeconds }: AlertRule, ports: AlertReadingPorts) {
  const fromMs = ports.clock.nowMs() - windowSeconds * 1000;
  for (const queue of queuesOf(ports.state(), account)) {
    const reply = await ports.queues.ask(queue, { type: 'GetSchedule', id: target as ScheduleId });
    if (reply.type !== 'Schedules') continue;
    const found = reply.schedules[0]?.schedule;
    if (found === undefined) continue;
    if (found.isPaused || found.createdAtMs > fromMs) return [];
    const seen = await positionOf(ports, queue);
    const filter = { fromMs, scheduleId: [target] };
    const count = sumOf(current(await ports.messageLog.eventCounts(queue, filter, ['DELIVERED'], seen)));
    if (count >= threshold) return [];
    const text = `the schedule ${target} had ${count === 1 ? 'one successful delivery' : `${count} successful deliveries`} within ${inWords(windowSeconds)}`;
    return [{ subject: target, text }];
  }
  return [{ subject: target, text: `there is no schedule ${target}` }];
}

/** A paused trigger does not read, and that of a branch is held: their lag is wanted. */
async function laggingTriggers({ account, target, threshold }: AlertRule, ports: AlertReadingPorts) {
  const state = ports.state();
  const all = queuesOf(state, account).flatMap((queue) => state.triggers.of(queue));
  const watched = all.filter(({ id }) => target === '' || id === target);
  if (target !== '' && watched.length === 0) return [{ subject: target, text: `there is no trigger ${target}` }];
  const found: FiringSubject[] = [];
  for (const trigger of watched) {
    const database = state.live(trigger.database);
    if (database === undefined || trigger.isPaused || database.branch?.isLive === false) continue;
    if (found.length === MAX_ALERT_SUBJECTS) break;
    const { lagMs, lost } = await ports.triggers.lagOf(trigger, database);
    const seconds = Math.floor(lagMs / 1000);
    const name = trigger.name === '' ? trigger.id : trigger.name;
    if (lost !== undefined) found.push({ subject: trigger.id, text: `the trigger ${name} is lost: ${lost}` });
    else if (seconds >= threshold)
      found.push({ subject: trigger.id, text: `the trigger ${name} is ${inWords(seconds)} behind` });
  }
  return found;
}

/** An account without an export has no reading. */
async function lateAuditExport({ account, threshold }: AlertRule, ports: AlertReadingPorts) {
  const auditExport = ports.state().auditExports.get(account);
  if (auditExport === undefined) return [];
  const { lagMs, undeliveredMs, problem } = await ports.auditExports.lagOf(auditExport);
  const seconds = Math.floor(Math.max(lagMs, undeliveredMs) / 1000);
  if (seconds < threshold) return [];
  const delay = lagMs < undeliveredMs ? 'has not acknowledged a change' : 'has not been sent a change';
  const text = `${auditExport.url} ${delay} of the audit log for ${inWords(seconds)}`;
  return [{ subject: 'audit log', text: problem === undefined ? text : `${text}: ${problem}` }];
}

/** A read model that has reached this position has seen everything up to now. */
async function positionOf(ports: AlertReadingPorts, queue: AccountId): Promise<number> {
  return (await asked(ports, queue, { type: 'GetPosition' }, 'Position')).position;
}

/**
 * An answer from before, such as that of a read model that is being rebuilt, is no reading: it would end alerts.
 * @throws Error for an old answer
 */
function current<Answer extends MaybeBehind>(answer: Answer): Answer {
  if (answer.behind !== undefined) throw new Error('the read model is behind');
  return answer;
}

/** @throws Error when the queue refuses the question */
async function asked<Type extends 'Position' | 'Messages' | 'Breakers'>(
  { queues }: AlertReadingPorts,
  queue: AccountId,
  command: QueueCommand,
  type: Type,
): Promise<QueueReplyOf<Type>> {
  const reply = await queues.ask(queue, command);
  if (reply.type === type) return reply as QueueReplyOf<Type>;
  throw new Error(reply.type === 'Rejected' ? reply.message : 'the queue gave another answer');
}

function sumOf({ counts }: Counts): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

function inWords(seconds: number): string {
  const [count, unit]: readonly [number, string] =
    seconds < 120
      ? [seconds, 'second']
      : seconds < 7200
        ? [Math.floor(seconds / 60), 'minute']
        : seconds < 172_800
          ? [Math.floor(seconds / 3600), 'hour']
          : [Math.floor(seconds / 86_400), 'day'];
  return counted(count, unit);
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
