/** What events of accounts, teams and API keys do to the control state. */
import { type AccountId, assert, unreachable } from '../../kernel/index.js';
import type { ControlEvent } from './events.js';
import { roleIn } from './people.js';
import type { Account } from './records.js';
import type { ControlState } from './state.js';

export type AccountEvent = Extract<
  ControlEvent,
  {
    readonly type:
      | 'AccountCreated'
      | 'AccountLimitsSet'
      | 'AccountStateSet'
      | 'AccountPlanSet'
      | 'AccountDeleted'
      | 'TeamSet'
      | 'QueueMoved'
      | 'QueueTokensSet'
      | 'SigningKeysRotated'
      | 'ApiKeyCreated'
      | 'ApiKeyDeleted';
  }
>;

export function evolveAccounts(state: ControlState, event: AccountEvent): void {
  switch (event.type) {
    case 'AccountCreated': {
      const { type: _, ...account } = event;
      state.putAccount(account);
      return;
    }
    case 'AccountLimitsSet':
      state.putAccount({ ...existing(state, event.account), limits: event.limits });
      return;
    case 'AccountStateSet':
      state.putAccount({ ...existing(state, event.account), state: event.state });
      return;
    case 'AccountPlanSet':
      state.putAccount({ ...existing(state, event.account), plan: event.plan });
      return;
    case 'TeamSet': {
      const account = { ...existing(state, event.account), team: event.team };
      state.putAccount(account);
      // C6.
      state.apiKeys.dropOf(account.id, ({ email }) => roleIn(account, email) !== undefined);
      return;
    }
    case 'QueueMoved':
      state.putAccount({ ...existing(state, event.account), queueOwner: event.owner });
      return;
    case 'AccountDeleted':
      state.deleteAccount(event.account, event.atMs);
      return;
    case 'QueueTokensSet': {
      const before = existing(state, event.account);
      const { queueToken, readOnlyToken } = event;
      state.putAccount({ ...before, secrets: { ...before.secrets, queueToken }, readOnlyToken });
      return;
    }
    case 'SigningKeysRotated': {
      const before = existing(state, event.account);
      const { current: signingKeyCurrent, next: signingKeyNext } = event;
      state.putAccount({ ...before, secrets: { ...before.secrets, signingKeyCurrent, signingKeyNext } });
      return;
    }
    case 'ApiKeyCreated': {
      const { type: _, ...key } = event;
      state.apiKeys.put(key);
      return;
    }
    case 'ApiKeyDeleted':
      state.apiKeys.delete(event.id);
      return;
    default:
      unreachable(event);
  }
}

function existing(state: ControlState, id: AccountId): Account {
  const account = state.accounts.get(id);
  assert(account !== undefined, 'an event of an account that is not there', { account: id });
  return account;
}
