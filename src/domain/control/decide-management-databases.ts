/** Decides commands of an account about its databases. Databases of other accounts are answered as unknown. */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import type { ControlCommandOf, DatabaseView } from './commands.js';
import { databasePlanLimits } from './database-plans.js';
import { refuseLimits, refuseOneMore, refuseSettings, settingsOf } from './database-rules.js';
import { unknownAccount } from './decide-accounts.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import type { DatabaseSettings } from './management.js';
import type { DatabaseChange } from './management-commands.js';
import { refuseName } from './names.js';
import { type Database, type DatabaseLimits, utcDayOf } from './records.js';
import type { ControlState } from './state.js';

export function ownDatabase(state: ControlState, account: AccountId, id: DatabaseId): Database | undefined {
  const database = state.live(id);
  return database?.account === account ? database : undefined;
}

export function decideListOwn(
  { account }: ControlCommandOf<'ListOwnDatabases'>,
  state: ControlState,
  nowMs: number,
): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  const today = utcDayOf(nowMs);
  const databases: DatabaseView[] = state
    .databasesOf(account)
    .map((database) => ({ database, today: state.usageOf(database.id, today) }));
  return decided({ type: 'Databases', databases });
}

export function decideGet({ account, database: id }: ControlCommandOf<'GetDatabase'>, state: ControlState): Decision {
  const database = ownDatabase(state, account, id);
  return database === undefined ? unknownDatabase(id) : decided({ type: 'OneDatabase', database });
}

/** A new plan sets its limits; limits named in the change win. */
export function decideChange(
  command: ControlCommandOf<'ChangeDatabase'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const { account, database: id, change } = command;
  const before = ownDatabase(state, account, id);
  if (before === undefined) return unknownDatabase(id);
  if (!isOfNoBackup(change) && state.backups.isUnderWay(id, nowMs)) return backupIsUnderWay();
  const settings = changedSettings(settingsOf(before), change, nowMs);
  const hasOtherPlan = settings.plan !== settingsOf(before).plan;
  const limits: DatabaseLimits = {
    ...before.limits,
    ...(hasOtherPlan ? databasePlanLimits(settings.plan) : {}),
    ...said(change.limits ?? {}),
  };
  const after: Database = { ...before, name: change.name ?? before.name, settings, limits };
  const refusal =
    (after.name === before.name ? undefined : refuseName(after.name)) ??
    refuseSettings(settings) ??
    refuseLimits(limits) ??
    (hasOtherPlan ? refuseOneMore(state, account, settings, id) : undefined) ??
    refuseScrapeToken(settings, id, state);
  if (refusal !== undefined) return refusal;
  const events = changes(before, after, nowMs);
  const hasSettings = before.settings !== undefined || events.some(({ type }) => type === 'DatabaseSettingsSet');
  const database = { ...before, name: after.name, limits, ...(hasSettings ? { settings } : {}) };
  return decided({ type: 'OneDatabase', database }, ...events);
}

export function decideMove(command: ControlCommandOf<'MoveDatabase'>, state: ControlState, nowMs: number): Decision {
  const { account, database: id, to } = command;
  const database = ownDatabase(state, account, id);
  if (database === undefined) return unknownDatabase(id);
  const refusal = refuseAsTarget(state, account, to);
  if (refusal !== undefined) return refusal;
  if (state.backups.isUnderWay(id, nowMs)) return backupIsUnderWay();
  const full = refuseOneMore(state, to, settingsOf(database));
  if (full !== undefined) return full;
  return decided(
    { type: 'OneDatabase', database: { ...database, account: to } },
    { type: 'DatabaseMoved', database: id, account: to, atMs: nowMs },
  );
}

/** Databases and queues are moved to teams only; the edge checks whether the person may write there. */
export function refuseAsTarget(state: ControlState, from: AccountId, to: AccountId): Decision | undefined {
  if (state.accounts.get(to)?.team === undefined) return rejected('UNKNOWN_TEAM', `there is no team ${to}`);
  return from === to ? rejected('CONFLICTS', 'it belongs to that team already') : undefined;
}

export function backupIsUnderWay(): Decision {
  return rejected('CONFLICTS', 'a backup of the database is under way: try again when it has ended');
}

/** Settings that may change during a backup, because no backup depends on them. */
const SETTINGS_OF_NO_BACKUP: ReadonlySet<string> = new Set(['isSuspended', 'hasDailyBackup']);

function isOfNoBackup({ name, settings, limits }: DatabaseChange): boolean {
  const names = Object.keys(said(settings ?? {}));
  const isFree = names.length > 0 && names.every((each) => SETTINGS_OF_NO_BACKUP.has(each));
  return name === undefined && limits === undefined && isFree;
}

function changedSettings(before: DatabaseSettings, { settings = {} }: DatabaseChange, nowMs: number): DatabaseSettings {
  const { prometheusToken, ...plain } = settings;
  const after: DatabaseSettings = {
    ...before,
    ...said(plain),
    prometheusToken: prometheusToken === undefined ? before.prometheusToken : (prometheusToken ?? undefined),
  };
  if (after.plan === before.plan || plain.lastPlanUpgradeAtMs !== undefined) return after;
  return { ...after, lastPlanUpgradeAtMs: nowMs };
}

function refuseScrapeToken({ prometheusToken }: DatabaseSettings, id: DatabaseId, state: ControlState) {
  const owner = prometheusToken === undefined ? undefined : state.scrapeTokens.get(prometheusToken.sha256);
  const isQueues = prometheusToken !== undefined && state.queueScrapeTokens.has(prometheusToken.sha256);
  return !isQueues && (owner === undefined || owner === id)
    ? undefined
    : rejected('SECRET_TAKEN', 'a token is in use already');
}

function changes(before: Database, after: Database, atMs: number): ControlEvent[] {
  const { id: database, name, limits } = after;
  const settings = settingsOf(after);
  const events: ControlEvent[] = [];
  if (name !== before.name) events.push({ type: 'DatabaseRenamed', database, name, atMs });
  if (!isSame(settings, settingsOf(before))) events.push({ type: 'DatabaseSettingsSet', database, settings, atMs });
  if (!isSame(limits, before.limits)) events.push({ type: 'LimitsUpdated', database, limits, atMs });
  return events;
}

/** Without properties that are undefined. */
export function said<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Compares plain records of which one was made from the other, so their properties have the same order. */
export function isSame(one: object, other: object): boolean {
  return JSON.stringify(said(one)) === JSON.stringify(said(other));
}
