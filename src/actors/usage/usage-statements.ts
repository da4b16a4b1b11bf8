/**
 * The use of an account in a month, from the statistics and the control state.
 *
 *  UST1 a database, queue or index without use has a row with zeros; a deleted one has none
 */
import { type ControlState, DEFAULT_ACCOUNT_LIMITS, type LabeledId } from '../../domain/control/index.js';
import { DAY_MS, type MonthlyUse, startOfMonth, type UsageDocument } from '../../domain/statistics/index.js';
import type { AccountId } from '../../kernel/index.js';
import type { Behind, Clock, MaybeBehind, Statistics } from '../../ports/index.js';
import { uuidOf } from '../../protocol/index.js';

export interface UsageStatementPorts {
  readonly clock: Clock;
  readonly statistics: Statistics;
  readonly state: () => ControlState;
}

/** Rows are read one after the other, so that an account with many databases leaves time to others. */
export class UsageStatements {
  constructor(private readonly ports: UsageStatementPorts) {}

  /** @param month since 1970. @throws as `Statistics` does */
  async documentOf(account: AccountId, month: number): Promise<UsageDocument & MaybeBehind> {
    const { state, statistics, clock } = this.ports;
    const lastMs = Math.min(clock.nowMs(), startOfMonth(month + 1) - 1);
    const isOfMonth = ({ day }: { readonly day: number }) =>
      day >= startOfMonth(month) / DAY_MS && day < startOfMonth(month + 1) / DAY_MS;
    const rows: MonthlyUse[] = [];
    let behind: Behind | undefined;
    const common = (kind: MonthlyUse['kind'], { id, name }: { readonly id: LabeledId; readonly name: string }) => {
      const labels = state().usageRecords.labelsOf(id);
      return { kind, id: uuidOf(id), name, labels: Object.fromEntries(labels.map((one) => [one.name, one.value])) };
    };
    for (const database of state().databasesOf(account)) {
      const series = await statistics.database(database.id, '1h', lastMs);
      const days = series.days.filter(isOfMonth);
      behind ??= series.behind;
      rows.push({
        ...common('database', database),
        requests: sum(days.map(({ commands }) => commands)),
        messages: undefined,
        storedBytes: days.at(-1)?.storageBytes ?? 0,
        transferredBytes: sum(days.map(({ bandwidthBytes }) => bandwidthBytes)),
        dailyQuota: database.limits.maxRequestsPerDay || undefined,
        busiestDay: Math.max(0, ...days.map(({ commands }) => commands)),
      });
    }
    for (const queue of queuesOf(state(), account)) {
      const series = await statistics.account(queue.id, '1h', lastMs);
      const days = series.days.filter(isOfMonth);
      behind ??= series.behind;
      const { maxMessagesPerDay, maxMessagesPerDayHard } = queue.limits ?? DEFAULT_ACCOUNT_LIMITS;
      rows.push({
        ...common('queue', queue),
        requests: sum(days.map(({ requests }) => requests)),
        messages: sum(days.map(({ messages }) => messages)),
        storedBytes: undefined,
        transferredBytes: sum(days.map(({ bandwidthBytes }) => bandwidthBytes)),
        dailyQuota: maxMessagesPerDayHard || maxMessagesPerDay || undefined,
        busiestDay: Math.max(0, ...days.map(({ messages }) => messages)),
      });
    }
    for (const index of state().search.of(account)) {
      const series = await statistics.search(index.id, '1h', lastMs);
      const days = series.days.filter(isOfMonth);
      behind ??= series.behind;
      const { maxDailyQueries } = index.limits;
      rows.push({
        ...common('index', index),
        requests: sum(days.map(({ queries, updates }) => queries + updates)),
        messages: undefined,
        storedBytes: days.at(-1)?.storageBytes ?? 0,
        transferredBytes: sum(days.map(({ bandwidthBytes }) => bandwidthBytes)),
        dailyQuota: maxDailyQueries > 0 ? maxDailyQueries : undefined,
        busiestDay: Math.max(0, ...days.map(({ queries }) => queries)),
      });
    }
    return { month, rows, ...(behind !== undefined && { behind }) };
  }
}

/** The queues of the account, its own first. */
function queuesOf(state: ControlState, account: AccountId) {
  const queues = [...state.people.queues.of(account)].flatMap((id) => state.accounts.get(id) ?? []);
  return queues.sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
