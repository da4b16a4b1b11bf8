/**
 * Decides changes of a database's number of partitions. The copy itself is made by `PartitionChanges` of actors/control,
 * which reports each step here.
 *
 *  LAY1 one event switches: before it all keys are in the present layout, after it in the other one
 *  LAY2 a step names the attempt, which changes with each copy and each phase: a process that no longer makes the copy
 *       cannot switch
 *  LAY3 before format level LAYOUTS_FORMAT_LEVEL no change begins, because earlier programs would ask the old partitions
 *  LAY4 the numbers of a layout are above those of every layout that clients were sent to
 *  LAY5 a trigger reads the journals of the layout with which it was made up to the switch, and then those of the next
 *       layout; so the change names the positions of the switch, and a trigger is at most one layout late
 */
import { type DatabaseId, FIRST_FORMAT_LEVEL, LAYOUTS_FORMAT_LEVEL } from '../../kernel/index.js';
import { branchesOf, isBranch } from './branches.js';
import type { ControlCommandOf } from './commands.js';
import { layoutIsChanging } from './database-rules.js';
import { unknownDatabase } from './decide-databases.js';
import { backupIsUnderWay } from './decide-management-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import { MAX_AUDIT_TEXT, MAX_PARTITION_NUMBER, MAX_PARTITIONS } from './limits.js';
import { type Database, isChangingLayout, type LayoutChange } from './records.js';
import type { ControlState } from './state.js';

const CANCELLED = 'cancelled';
type CancelPartitions = ControlCommandOf<'AdvancePartitions'>;

export function decideChangePartitions(
  { database: id, partitions }: ControlCommandOf<'ChangePartitions'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const database = state.live(id);
  if (database === undefined) return unknownDatabase(id);
  if (!Number.isSafeInteger(partitions) || partitions < 1 || partitions > MAX_PARTITIONS) {
    return rejected('BAD_PARTITIONS', `a database has 1 to ${MAX_PARTITIONS} partitions`);
  }
  if ((state.format?.level ?? FIRST_FORMAT_LEVEL) < LAYOUTS_FORMAT_LEVEL) {
    const problem = `changing partitions needs format level ${LAYOUTS_FORMAT_LEVEL}`;
    return rejected('CONFLICTS', `${problem}: run millrace cluster upgrade`);
  }
  const { firstPartition = 0, layoutChange } = database;
  if (layoutChange !== undefined && isChangingLayout(database)) {
    const isAsked = layoutChange.phase === 'copying' && layoutChange.partitions === partitions;
    return isAsked ? decided({ type: 'OneDatabase', database }) : layoutIsChanging(database);
  }
  if (partitions === database.partitions) return decided({ type: 'OneDatabase', database });
  if (state.backups.isUnderWay(id, nowMs)) return backupIsUnderWay();
  if (isBranch(database)) {
    return rejected('CONFLICTS', `${database.name} is a branch, and a branch keeps the partitions of its origin`);
  }
  const branches = branchesOf(state, database.account, id).map(({ name }) => name);
  if (branches.length > 0) {
    const problem = `a branch keeps the partitions of its origin, and ${database.name} has branches`;
    return rejected('CONFLICTS', `${problem}: discard ${branches.join(', ')} first`);
  }
  const first = firstPartition + database.partitions;
  if (first + partitions > MAX_PARTITION_NUMBER) {
    return rejected('TOO_MANY', `the partitions of a database are numbered up to ${MAX_PARTITION_NUMBER}`);
  }
  const attempt = Math.max(nowMs, (layoutChange?.attempt ?? 0) + 1);
  const started = { firstPartition: first, partitions, startedAtMs: nowMs, attempt };
  return changed(database, { ...started, phase: 'copying', percent: 0, reason: '' }, nowMs);
}

/** The command that cancels the change; without a change it is refused. */
export function cancellingOf(database: DatabaseId, change: LayoutChange | undefined): CancelPartitions {
  return {
    type: 'AdvancePartitions',
    database,
    attempt: change?.attempt ?? 0,
    to: 'abandoning',
    percent: 0,
    reason: CANCELLED,
  };
}

/** A step of the change, or its end. */
export function decideAdvancePartitions(
  command: ControlCommandOf<'AdvancePartitions'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const database = state.live(command.database);
  if (database === undefined) return unknownDatabase(command.database);
  const { layoutChange: change, firstPartition, partitions } = database;
  const { to, percent } = command;
  if (change === undefined || change.attempt !== command.attempt) return unknownChange();
  const next = { ...change, attempt: Math.max(nowMs, change.attempt + 1) };
  const reason = command.reason.slice(0, MAX_AUDIT_TEXT);
  switch (`${change.phase} ${to}`) {
    case 'copying attempt':
      return changed(database, { ...next, percent: 0 }, nowMs);
    case 'copying copying':
      if (percent <= change.percent) return decided({ type: 'OneDatabase', database });
      return changed(database, { ...change, percent: Math.min(100, percent) }, nowMs);
    case 'copying switched': {
      const left = { firstPartition: firstPartition ?? 0, partitions };
      const { ends = [] } = command;
      const former = { ...left, starts: database.former?.ends ?? [], ends };
      const after = { ...database, firstPartition: change.firstPartition, partitions: change.partitions, former };
      const decision = changed(after, { ...next, ...left, phase: 'switched', percent: 100 }, nowMs);
      return { ...decision, events: [...decision.events, ...triggersOfLeft(database, state, nowMs)] };
    }
    case 'copying abandoning':
      return changed(database, { ...next, phase: 'abandoning', reason }, nowMs);
    case 'abandoning failed':
      return changed(database, { ...change, phase: 'failed' }, nowMs);
    case 'switched ended':
      return changed(database, undefined, nowMs);
    default:
      return unknownChange();
  }
}

/** Triggers of the layout before the one that is left have read it to its end, so they begin in the one that is left. */
function triggersOfLeft(
  { id, firstPartition = 0, former }: Database,
  state: ControlState,
  atMs: number,
): ControlEvent[] {
  if (former === undefined) return [];
  const earlier = state.triggers.ofDatabase(id).filter((trigger) => (trigger.firstPartition ?? 0) !== firstPartition);
  return earlier.map((trigger) => ({
    type: 'TriggerSet',
    trigger: { ...trigger, from: 'now', starts: former.ends, firstPartition },
    atMs,
  }));
}

function unknownChange(): Decision {
  return rejected('CONFLICTS', 'there is no such change of the partitions in that state');
}

function changed(database: Database, layoutChange: LayoutChange | undefined, atMs: number): Decision {
  const { id, firstPartition = 0, partitions, former } = database;
  const { layoutChange: _, ...rest } = database;
  const change = layoutChange === undefined ? {} : { layoutChange };
  return decided(
    { type: 'OneDatabase', database: { ...rest, firstPartition, ...change } },
    { type: 'DatabaseLayoutSet', database: id, firstPartition, partitions, atMs, ...change, ...(former && { former }) },
  );
}
