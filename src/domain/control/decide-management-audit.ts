/**
 * The audit log: a change and its line are in the same entry, so neither exists without the other. Exports of it:
 *
 *  AEX1 before format level AUDIT_EXPORT_FORMAT_LEVEL no event is made, because earlier programs could not read it
 *  AEX2 a changed address keeps the position, so that no note is left out or sent twice
 */
import { type AccountId, AUDIT_EXPORT_FORMAT_LEVEL, type DatabaseId, FIRST_FORMAT_LEVEL } from '../../kernel/index.js';
import type { ControlRow } from './command-row.js';
import type { ControlCommand, ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_ALERT_TARGET, MAX_AUDIT_EXPORTS, MAX_AUDIT_PAGE, MAX_AUDIT_TEXT } from './limits.js';
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

export function decideSetAuditExport(
  { account, url, position }: ControlCommandOf<'SetAuditExport'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  if (url.length > MAX_ALERT_TARGET) return rejected('BAD_VALUE', `url: at most ${MAX_ALERT_TARGET} characters`);
  const before = state.auditExports.get(account);
  const next = { account, url, position: before?.position ?? position };
  const reply = { type: 'AuditExportIs', ...next } as const;
  if ((before?.url ?? '') === url) return decided(reply);
  if (before === undefined && state.auditExports.size >= MAX_AUDIT_EXPORTS) {
    return rejected('TOO_MANY', `at most ${MAX_AUDIT_EXPORTS} accounts can export their audit log`);
  }
  if ((state.format?.level ?? FIRST_FORMAT_LEVEL) < AUDIT_EXPORT_FORMAT_LEVEL) {
    const advice = `needs format level ${AUDIT_EXPORT_FORMAT_LEVEL}: run millrace cluster upgrade`;
    return rejected('CONFLICTS', `an export of the audit log ${advice}`);
  }
  return decided(reply, { type: 'AuditExportSet', ...next, atMs });
}

export function decideGetAuditExport({ account }: ControlCommandOf<'GetAuditExport'>, state: ControlState): Decision {
  if (!state.accounts.has(account)) return unknownAccount(account);
  return decided({ type: 'AuditExportIs', ...(state.auditExports.get(account) ?? { account, url: '', position: 0 }) });
}

function cut({ action, ...texts }: AuditNote): AuditNote {
  const short = Object.entries(texts).map(([name, text]) => [name, text.slice(0, MAX_AUDIT_TEXT)]);
  return { action, ...(Object.fromEntries(short) as Omit<AuditNote, 'action'>) };
}
