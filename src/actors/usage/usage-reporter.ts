/**
 * Sends the use of each account with a report after the end of a month, as a message of the account's own queue: signed,
 * retried and logged like all others. Only the owner of the control shard sends.
 *
 *  URP1 a month has one message: its id follows from account and month, so the queue accepts it once, even if the owner
 *       ends between the queue's answer and the stored outcome
 *  URP2 months that ended while no process served are sent too, oldest first, up to MAX_MISSED_MONTHS
 *  URP3 a document is made when the statistics contain the whole month
 */
import { derivedMessageId, type HeaderList, parseDestinationUrl, parseSettings } from '../../domain/queue/index.js';
import type { UsageDocument } from '../../domain/statistics/index.js';
import { monthOfInstant, monthText, startOfMonth, usageCsv, usageFields } from '../../domain/statistics/index.js';
import { type AccountId, bytesOfText, describeError } from '../../kernel/index.js';
import type {
  AccountBook,
  HttpOut,
  Log,
  ManagementControl,
  MaybeBehind,
  QueueGateway,
  Timer,
  Timers,
  UsageDocuments,
} from '../../ports/index.js';
import { type UsageStatementPorts, UsageStatements } from './usage-statements.js';

export interface UsageReportPorts extends UsageStatementPorts {
  readonly accounts: AccountBook;
  readonly queues: Pick<QueueGateway, 'publish'>;
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
}

export interface UsageReporterPorts extends Pick<UsageReportPorts, 'clock' | 'state'> {
  readonly timers: Timers;
  readonly log: Log;
  readonly control: ManagementControl;
  readonly reports: Pick<UsageReports, 'send'>;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
}

/** Counts of other processes arrive within seconds; those of a process that was cut off, within minutes. */
const SETTLE_MS = 10 * 60_000;
const LOOK_MS = 60_000;
const MAX_MISSED_MONTHS = 12;
const LABEL = 'millrace-usage';
const HEADERS: HeaderList = [
  ['content-type', bytesOfText('application/json')],
  ['svc-label', bytesOfText(LABEL)],
];

/** Documents for the API, and their sending. */
export class UsageReports implements UsageDocuments {
  readonly #statements: UsageStatements;

  constructor(private readonly ports: UsageReportPorts) {
    this.#statements = new UsageStatements(ports);
  }

  documentOf(account: AccountId, month: number): Promise<UsageDocument & MaybeBehind> {
    return this.#statements.documentOf(account, month);
  }

  refusalOf(url: string): string | undefined {
    const outcome = parseDestinationUrl(url, 'url');
    return outcome.isOk ? this.ports.destinations.refusalOf(outcome.url) : outcome.message;
  }

  /** URP1. @throws Error with a reason for people, also if the statistics lack a part of the month (URP3) */
  async send(account: AccountId, url: string, month: number): Promise<void> {
    const { accounts, queues, clock, state } = this.ports;
    const [queue] = state().people.queues.of(account);
    const terms = queue === undefined ? undefined : accounts.termsOf(queue);
    if (queue === undefined || terms === undefined) throw new Error('the account has no queue');
    const refusal = this.refusalOf(url);
    if (refusal !== undefined) throw new Error(refusal);
    const outcome = parseSettings(
      { headers: HEADERS, query: [] },
      { limits: terms.limits, nowMs: clock.nowMs(), of: 'publish' },
    );
    if (!outcome.isOk) throw new Error(outcome.message);
    const document = await this.documentOf(account, month);
    if (document.behind !== undefined) throw new Error('the statistics are behind');
    const body = { type: 'usage.month', ...usageFields(document), csv: usageCsv(document) };
    const reply = await queues.publish(queue, [
      {
        id: derivedMessageId(`usage ${account} ${month}`),
        destination: { kind: 'url', url, settings: outcome.parsed.settings },
        queueName: undefined,
        body: Buffer.from(JSON.stringify(body)),
        notBeforeMs: undefined,
        deduplication: undefined,
        callerIp: '',
        isAlias: false,
      },
    ]);
    if (reply.type === 'Rejected') throw new Error(reply.message);
  }
}

export class UsageReporter {
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(private readonly ports: UsageReporterPorts) {}

  start(): void {
    this.#timer = this.ports.timers.every(LOOK_MS, () => this.look());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /** Never rejects: the next look repeats a failed sending. */
  async look(): Promise<void> {
    const { isOwner, state, clock } = this.ports;
    if (!isOwner()) return;
    const now = monthOfInstant(clock.nowMs());
    const isSettled = clock.nowMs() >= startOfMonth(now) + SETTLE_MS;
    // The last month that is complete.
    const last = isSettled ? now - 1 : now - 2;
    for (const { account, url, month } of [...state().usageRecords.reports.values()]) {
      for (let next = Math.max(month, last - MAX_MISSED_MONTHS) + 1; next <= last; next += 1) {
        if (this.#isStopped || !isOwner()) return;
        if (!(await this.#send(account, url, next))) break;
      }
    }
  }

  async #send(account: AccountId, url: string, month: number): Promise<boolean> {
    const { reports, control, log } = this.ports;
    try {
      await reports.send(account, url, month);
      await control.send({ type: 'EndUsageReport', account, month });
      return true;
    } catch (error) {
      if (!this.#isStopped)
        log.warn('usage.report-not-sent', { account, month: monthText(month), cause: describeError(error) });
      return false;
    }
  }
}
