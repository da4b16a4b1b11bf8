/** What an operator does on the command line is in the audit log of the account that it concerns. */
import { type AuditAction, auditActionNumber, type ControlCommand } from '../domain/control/index.js';
import type { AccountId } from '../kernel/index.js';

/** @param entity name of what is changed */
export function noted(
  account: AccountId,
  action: AuditAction,
  entity: string,
  command: Exclude<ControlCommand, { readonly type: 'Audited' }>,
): ControlCommand {
  const note = {
    actor: 'operator',
    action: auditActionNumber(action),
    source: 'COMMAND LINE',
    entity,
    secondaryEntity: '',
    thirdEntity: '',
    ip: '',
    reason: '',
  };
  return { type: 'Audited', account, note, command };
}
