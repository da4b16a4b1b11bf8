/** The audit log: what changed anything is noted in the same entry, so that neither is there without the other. */
import type { AccountId } from '../../kernel/index.js';
import type { ControlCommand } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { unknownDatabase } from './decide-databases.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_AUDIT_PAGE, MAX_AUDIT_TEXT } from './limits.js';
import type { AuditNote } from './management.js';
import { queueOwnerOf } from './people.js';
import type { ControlState } from './state.js';

type CommandOf<Type extends ControlCommand['type']> = Extract<ControlCommand, { readonly type: Type }>;

/** @param inner judges the command that is noted */
export function decideAudited(
  { account, note, command, always = false }: CommandOf<'Audited'>,
  state: ControlState,
  atMs: number,
  inner: (command: ControlCommand) => Decision,
): Decision {
  // The type says so; what comes over the bus was not checked by it.
  if ((command as ControlCommand).type === 'Audited') return rejected('BAD_VALUE', 'a note is not noted');
  const refusal = refuseForeign(account, command, state);
  if (refusal !== undefined) return refusal;
  const { reply, events } = inner(command);
  if (reply.type === 'Rejected' || (events.length === 0 && !always)) return { reply, events };
  const number = state.audit.lastNumber + 1;
  return { reply, events: [...events, { type: 'AuditNoted', number, account, atMs, ...cut(note) }] };
}

/**
 * Commands that operators had first name no account. Noted, they are asked for one: what was moved away a moment ago, after
 * whoever asks had seen it there, is not theirs to change.
 */
function refuseForeign(account: AccountId, command: ControlCommand, state: ControlState): Decision | undefined {
  switch (command.type) {
    case 'ResetPassword':
    case 'UpdateLimits':
    case 'DeleteDatabase':
      return state.databases.get(command.database)?.account === account ? undefined : unknownDatabase(command.database);
    case 'ResetQueueTokens':
    case 'ChangeAccountPlan': {
      const queue = state.accounts.get(command.account);
      return queue !== undefined && queueOwnerOf(queue) === account ? undefined : unknownAccount(command.account);
    }
    default:
      return undefined;
  }
}

export function decideListAudit(
  { account, count }: CommandOf<'ListAudit'>,
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
