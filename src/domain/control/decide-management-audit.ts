/** The audit log: a change and its line are in the same entry, so neither exists without the other. */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import type { ControlRow } from './command-row.js';
import type { ControlCommand, ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_AUDIT_PAGE, MAX_AUDIT_TEXT } from './limits.js';
import type { AuditNote } from './management.js';
import { queueOwnerOf } from './people.js';
import type { ControlState } from './state.js';

/** @param row of the noted command */
export function decideAudited(
  { account, note, command, always = false }: ControlCommandOf<'Audited'>,
  row: ControlRow,
  state: ControlState,
  atMs: number,
): Decision {
  // The type excludes this, but commands from other processes are not checked against it.
  if ((command as ControlCommand).type === 'Audited')
    return rejected('BAD_VALUE', 'an audit note cannot contain another one');
  const refusal = row.refuseForeign?.(command, account, state);
  if (refusal !== undefined) return refusal;
  const { reply, events } = row.decide(command, state, atMs);
  if (reply.type === 'Rejected' || (events.length === 0 && !always)) return { reply, events };
  const number = state.audit.lastNumber + 1;
  return { reply, events: [...events, { type: 'AuditNoted', number, account, atMs, ...cut(note) }] };
}

/** Refuses a database that was moved to another account after the caller read it. */
export function refuseForeignDatabase(
  { database }: { readonly database: DatabaseId },
  account: AccountId,
  state: ControlState,
): Decision | undefined {
  return state.databases.get(database)?.account === account ? undefined : unknownDatabase(database);
}

/** The same for a queue, which is named by its account. */
export function refuseForeignQueue(
  { account: queue }: { readonly account: AccountId },
  account: AccountId,
  state: ControlState,
): Decision | undefined {
  const found = state.accounts.get(queue);
  return found !== undefined && queueOwnerOf(found) === account ? undefined : unknownAccount(queue);
}

export function decideListAudit(
  { account, count }: ControlCommandOf<'ListAudit'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const most = Math.max(0, Math.min(count, MAX_AUDIT_PAGE));
  return decided({ type: 'AuditEntries', entries: state.audit.of(account, most, nowMs) });
}

function cut({ action, ...texts }: AuditNote): AuditNote {
  const short = Object.entries(texts).map(([name, text]) => [name, text.slice(0, MAX_AUDIT_TEXT)]);
  return { action, ...(Object.fromEntries(short) as Omit<AuditNote, 'action'>) };
}
