/**
 * Decides about labels and about the monthly reports of use.
 *
 *  USD1 before format level USAGE_FORMAT_LEVEL no event is made, because earlier programs could not read it
 *  USD2 a month has one report: the one with the number after the last month of the account's record
 */
import { type AccountId, FIRST_FORMAT_LEVEL, USAGE_FORMAT_LEVEL } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { ownDatabase } from './decide-management-databases.js';
import { accountsOf } from './decide-management-queues.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_ALERT_TARGET, MAX_LABEL_VALUE, MAX_OBJECT_LABELS } from './limits.js';
import type { Account } from './records.js';
import type { ControlState } from './state.js';
import type { Label, LabeledId } from './usage-records.js';

const LABEL_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,62}$/;
const CONTROL_CHARACTER = /\p{Cc}/u;

export function decideSetLabels(command: ControlCommandOf<'SetLabels'>, state: ControlState, atMs: number): Decision {
  const { labels: given } = command;
  const id = labeledIn(command, state);
  if (id === undefined) return rejected('UNKNOWN_DATABASE', 'the account has no such database, queue or index');
  const merged = new Map(state.usageRecords.labelsOf(id).map(({ name, value }) => [name, value]));
  for (const { name, value } of given) {
    const refusal = refuseLabel({ name, value });
    if (refusal !== undefined) return rejected('BAD_VALUE', refusal);
    if (value === '') merged.delete(name);
    else merged.set(name, value);
  }
  if (merged.size > MAX_OBJECT_LABELS) return rejected('TOO_MANY', `labels: at most ${MAX_OBJECT_LABELS} are possible`);
  const labels = [...merged].map(([name, value]) => ({ name, value })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const reply = { type: 'LabelsAre', labels: [{ id, labels }] } as const;
  if (JSON.stringify(labels) === JSON.stringify(state.usageRecords.labelsOf(id))) return decided(reply);
  return levelRefusal(state) ?? decided(reply, { type: 'LabelsSet', id, labels, atMs });
}

/** Labels of all that the account has. */
export function decideListLabels({ account }: ControlCommandOf<'ListLabels'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  const all = [...state.databasesOf(account), ...queuesOf(state, account), ...state.search.of(account)];
  const labels = all.flatMap(({ id }) => state.usageRecords.labels.get(id) ?? []);
  return decided({ type: 'LabelsAre', labels });
}

export function decideSetUsageReport(
  { account, url, month }: ControlCommandOf<'SetUsageReport'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  if (url.length > MAX_ALERT_TARGET) return rejected('BAD_VALUE', `url: at most ${MAX_ALERT_TARGET} characters`);
  const before = state.usageRecords.reports.get(account);
  const report = { account, url, month: before?.month ?? month };
  const reply = { type: 'UsageReportIs', ...report } as const;
  if ((before?.url ?? '') === url) return decided(reply);
  return levelRefusal(state) ?? decided(reply, { type: 'UsageReportSet', ...report, atMs });
}

export function decideGetUsageReport({ account }: ControlCommandOf<'GetUsageReport'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  const none = { account, url: '', month: 0 };
  return decided({ type: 'UsageReportIs', ...(state.usageRecords.reports.get(account) ?? none) });
}

/** USD2. A repeated command has no event. */
export function decideEndUsageReport(
  { account, month }: ControlCommandOf<'EndUsageReport'>,
  state: ControlState,
  atMs: number,
): Decision {
  const before = state.usageRecords.reports.get(account);
  if (before === undefined || before.month >= month) {
    return decided({ type: 'UsageReportIs', account, url: before?.url ?? '', month: before?.month ?? 0 });
  }
  const report = { ...before, month };
  return decided({ type: 'UsageReportIs', ...report }, { type: 'UsageReportSet', ...report, atMs });
}

/** The id of the object; undefined if the account has no such object. */
function labeledIn(
  { account, database, index, queue }: ControlCommandOf<'SetLabels'>,
  state: ControlState,
): LabeledId | undefined {
  if (database !== undefined) return ownDatabase(state, account, database)?.id;
  if (queue !== undefined) return queuesOf(state, account).find(({ id }) => id === queue)?.id;
  return index !== undefined && state.search.live(index)?.account === account ? index : undefined;
}

function queuesOf(state: ControlState, account: AccountId): readonly Account[] {
  return accountsOf(state, state.people.queues.of(account));
}

function refuseLabel({ name, value }: Label): string | undefined {
  if (!LABEL_NAME.test(name)) {
    return `labels: a name has up to 63 letters, digits, dots, dashes and underscores and begins with a letter, not ${JSON.stringify(name.slice(0, 80))}`;
  }
  if (value.length > MAX_LABEL_VALUE || CONTROL_CHARACTER.test(value)) {
    return `labels: the value of ${name} must be one line of at most ${MAX_LABEL_VALUE} characters`;
  }
  return undefined;
}

/** USD1. */
function levelRefusal({ format }: ControlState): Decision | undefined {
  if ((format?.level ?? FIRST_FORMAT_LEVEL) >= USAGE_FORMAT_LEVEL) return undefined;
  const advice = `need format level ${USAGE_FORMAT_LEVEL}: run millrace cluster upgrade`;
  return rejected('CONFLICTS', `labels and usage reports ${advice}`);
}
