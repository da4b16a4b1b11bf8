/**
 * Decides commands about triggers. Patterns, filters, options and destinations were judged by the process that received
 * the request, with the parsers of databases, search and the queue.
 */
import { FIRST_FORMAT_LEVEL, TRIGGERS_FORMAT_LEVEL, type TriggerId } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { layoutIsChanging } from './database-rules.js';
import { unknownAccount } from './decide-accounts.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import {
  MAX_DATABASE_TRIGGERS,
  MAX_TRIGGER_LANES,
  MAX_TRIGGER_OPTIONS,
  MAX_TRIGGER_PATTERNS,
  MAX_TRIGGER_TEXT,
  MAX_TRIGGERS,
} from './limits.js';
import { refuseName } from './names.js';
import { isChangingLayout } from './records.js';
import type { ControlState } from './state.js';
import type { Trigger } from './triggers.js';

export function decideSetTrigger(
  { trigger, isNew }: ControlCommandOf<'SetTrigger'>,
  state: ControlState,
  atMs: number,
): Decision {
  const { accounts, triggers, format } = state;
  const account = accounts.get(trigger.account);
  if (account === undefined) return unknownAccount(trigger.account);
  if ((format?.level ?? FIRST_FORMAT_LEVEL) < TRIGGERS_FORMAT_LEVEL) {
    return rejected('CONFLICTS', `triggers need format level ${TRIGGERS_FORMAT_LEVEL}: run millrace cluster upgrade`);
  }
  const before = triggers.byId.get(trigger.id);
  if (before !== undefined && before.account !== trigger.account) return unknownTrigger(trigger.id);
  if (before === undefined && !isNew) return unknownTrigger(trigger.id);
  if (isSame(before, trigger)) return decided({ type: 'OneTrigger', trigger });
  if (before !== undefined && isNew) return rejected('ID_TAKEN', 'there is such a trigger already');
  const database = state.live(trigger.database);
  if (database === undefined || (database.account !== account.id && database.account !== account.queueOwner)) {
    return unknownDatabase(trigger.database);
  }
  // LAY5
  const hasMoved = before === undefined || JSON.stringify(before.starts) !== JSON.stringify(trigger.starts);
  if (hasMoved && isChangingLayout(database)) return layoutIsChanging(database);
  const refusal = refuseTrigger(trigger) ?? (before === undefined ? refuseAnother(trigger, state) : undefined);
  return refusal ?? decided({ type: 'OneTrigger', trigger }, { type: 'TriggerSet', trigger, atMs });
}

export function decideDeleteTrigger(
  { account, trigger: id }: ControlCommandOf<'DeleteTrigger'>,
  { triggers }: ControlState,
  atMs: number,
): Decision {
  const trigger = triggers.byId.get(id);
  if (trigger?.account !== account) return unknownTrigger(id);
  return decided({ type: 'OneTrigger', trigger }, { type: 'TriggerDeleted', trigger: id, atMs });
}

export function decideListTriggers({ account }: ControlCommandOf<'ListTriggers'>, state: ControlState): Decision {
  const found = state.accounts.get(account);
  if (found === undefined) return unknownAccount(account);
  const databases = state
    .databasesOf(found.queueOwner ?? account)
    .map(({ id, name, partitions, firstPartition, former }) => ({
      id,
      name,
      partitions,
      ...(firstPartition !== undefined && { firstPartition }),
      ...(former && { former }),
    }));
  return decided({ type: 'TriggersAre', triggers: state.triggers.of(account), databases });
}

function refuseAnother({ database }: Trigger, { triggers }: ControlState): Decision | undefined {
  if (triggers.ofDatabase(database).length >= MAX_DATABASE_TRIGGERS) {
    return rejected('TOO_MANY', `a database has at most ${MAX_DATABASE_TRIGGERS} triggers`);
  }
  if (triggers.byId.size < MAX_TRIGGERS) return undefined;
  return rejected('TOO_MANY', `this installation has at most ${MAX_TRIGGERS} triggers`);
}

function refuseTrigger({ name, patterns, events, filter, options, lanes, starts }: Trigger): Decision | undefined {
  const bad = (text: string) => rejected('BAD_VALUE', text);
  if (name !== '') {
    const refusal = refuseName(name);
    if (refusal !== undefined) return refusal;
  }
  if (patterns.length < 1 || patterns.length > MAX_TRIGGER_PATTERNS) {
    return bad(`patterns: a trigger has 1 to ${MAX_TRIGGER_PATTERNS} patterns`);
  }
  if (events.length < 1) return bad('events: a trigger has at least one event');
  if (options.length > MAX_TRIGGER_OPTIONS) return bad(`options: a trigger has at most ${MAX_TRIGGER_OPTIONS} options`);
  const texts = [filter, ...patterns, ...events, ...options.flatMap((option) => [option.name, option.value])];
  if (texts.some((text) => text.length > MAX_TRIGGER_TEXT)) {
    return bad(`a pattern, the filter and an option have at most ${MAX_TRIGGER_TEXT} characters`);
  }
  if (!isWhole(lanes, 1, MAX_TRIGGER_LANES)) {
    return bad(`lanes: must be a whole number from 1 to ${MAX_TRIGGER_LANES}`);
  }
  if (starts.length < 1 || starts.some(({ position }) => !isWhole(position, 0, Number.MAX_SAFE_INTEGER))) {
    return bad('from: has no position');
  }
  return undefined;
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function isSame(before: Trigger | undefined, trigger: Trigger): boolean {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(trigger);
}

function unknownTrigger(id: TriggerId): Decision {
  return rejected('UNKNOWN_TRIGGER', `there is no trigger ${id}`);
}
