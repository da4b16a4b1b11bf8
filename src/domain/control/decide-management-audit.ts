/** The audit log: what changed anything is noted in the same entry, so that neither is there without the other. */
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

/** @param row of the command that is noted */
export function decideAudited(
  { account, note, command, always = false }: ControlCommandOf<'Audited'>,
  row: ControlRow,
  state: ControlState,
  atMs: number,
): Decision {
  // The type says so; what comes over the bus was not checked by it.
  if ((command as ControlCommand).type === 'Audited') return rejected('BAD_VALUE', 'a note is not noted');
  const refusal = row.refuseForeign?.(command, account, state);
  if (refusal !== undefined) return refusal;
  const { reply, events } = row.decide(command, state, atMs);
  if (reply.type === 'Rejected' || (events.length === 0 && !always)) return { reply, events };
  const number = state.audit.lastNumber + 1;
  return { reply, events: [...events, { type: 'AuditNoted', number, account, atMs, ...cut(note) }] };
}

/** What was moved away a moment ago, after whoever asks had seen it there, is not theirs to change. */
export function refuseForeignDatabase(
  { database }: { readonly database: DatabaseId },
  account: AccountId,
  state: ControlState,
): Decision | undefined {
  return state.databases.get(database)?.account === account ? undefined : unknownDatabase(database);
}

/** The same of a queue, which is named as an account. */
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
