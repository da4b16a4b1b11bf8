/**
 * Decides commands about API keys and signed-out sessions. The first key of a person belongs to their own account and
 * cannot be deleted.
 */
import type { ApiKeyId } from '../../kernel/index.js';
import { actsFor } from './assigned-roles.js';
import type { ControlCommandOf } from './commands.js';
import { unknownAccount } from './decide-accounts.js';
import { accountsOf } from './decide-management-queues.js';
import { refusedLevel, refuseUse } from './decide-management-roles.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_API_KEYS, MAX_SESSION_NAME } from './limits.js';
import type { ApiKey } from './management.js';
import { refuseName } from './names.js';
import { personOf } from './people.js';
import type { Account } from './records.js';
import type { ControlState } from './state.js';

const SHA256 = /^[0-9a-f]{64}$/;
/** The name of the key that an account is created with. */
export const DEFAULT_KEY_NAME = 'default';

/** Answers with all keys of the person. */
export function decideCreateKey(
  { key }: ControlCommandOf<'CreateApiKey'>,
  state: ControlState,
  nowMs: number,
): Decision {
  const email = key.email.toLowerCase();
  const known = state.apiKeys.byId.get(key.id);
  if (known !== undefined && known.sha256 === key.sha256 && known.email === email) return keysOf(email, state);
  const account = state.accounts.get(key.account);
  if (!actsFor(account, email, state)) return unknownAccount(key.account);
  const { role, on } = key;
  const unfit = role === undefined ? undefined : (refusedLevel(state) ?? refuseUse(state, key.account, { role, on }));
  if (unfit !== undefined) return unfit;
  const refusal = refuseName(key.name);
  if (refusal !== undefined) return refusal;
  if (!SHA256.test(key.sha256)) return rejected('BAD_VALUE', 'the hash of a key is not SHA-256');
  if (known !== undefined) return rejected('ID_TAKEN', `there is a key ${key.id} already`);
  if (state.apiKeys.bySecret.has(key.sha256) || state.people.mgmtKeys.has(key.sha256)) {
    return rejected('SECRET_TAKEN', 'the key is in use already');
  }
  const others = state.apiKeys.of(email);
  if (key.name === DEFAULT_KEY_NAME || others.some(({ name }) => name === key.name)) {
    return rejected('NAME_TAKEN', `there is a key named ${key.name} already`);
  }
  const all = listKeys(email, state);
  if (all.length >= MAX_API_KEYS) return rejected('TOO_MANY', `a person has at most ${MAX_API_KEYS} keys`);
  const created: ApiKey = { ...key, email, createdAtMs: nowMs };
  const reply = { type: 'ApiKeys', keys: [...all, created] } as const;
  return decided(reply, { type: 'ApiKeyCreated', ...created });
}

/** Answers with the remaining keys. */
export function decideDeleteKey(
  command: ControlCommandOf<'DeleteApiKey'>,
  state: ControlState,
  atMs: number,
): Decision {
  const email = command.email.toLowerCase();
  const all = listKeys(email, state);
  if (!all.some(({ id }) => id === command.id)) return rejected('UNKNOWN_KEY', 'there is no such key');
  if (!state.apiKeys.byId.has(command.id)) {
    return rejected('CONFLICTS', `the key named ${DEFAULT_KEY_NAME} belongs to the account and cannot be deleted`);
  }
  const keys = all.filter(({ id }) => id !== command.id);
  return decided({ type: 'ApiKeys', keys }, { type: 'ApiKeyDeleted', id: command.id, atMs });
}

export function decideListKeys({ email }: ControlCommandOf<'ListApiKeys'>, state: ControlState): Decision {
  return keysOf(email.toLowerCase(), state);
}

function keysOf(email: string, state: ControlState): Decision {
  return decided({ type: 'ApiKeys', keys: listKeys(email, state) });
}

function listKeys(email: string, state: ControlState): ApiKey[] {
  return [...accountsOf(state, state.people.ownAccounts(email)).map(defaultKeyOf), ...state.apiKeys.of(email)];
}

/** The key of the account itself, in the form of an API key. */
export function defaultKeyOf(account: Account): ApiKey {
  const { id, secrets, createdAtMs } = account;
  const { sha256 } = secrets.mgmtKey;
  const email = personOf(account);
  const keyId = `key_${id.slice(3)}` as ApiKeyId;
  return { id: keyId, account: id, email, name: DEFAULT_KEY_NAME, sha256, isReadOnly: false, createdAtMs };
}

/** A repetition changes no state: the session is already signed out. */
export function decideSignOut(
  { session, untilMs }: ControlCommandOf<'SignOut'>,
  state: ControlState,
  atMs: number,
): Decision {
  if (session === '' || session.length > MAX_SESSION_NAME) return rejected('BAD_VALUE', 'no session has such a name');
  const isOver = untilMs <= atMs || state.signedOut.has(session);
  return decided({ type: 'SignedOut' }, ...(isOver ? [] : [{ type: 'SignedOut', session, untilMs, atMs } as const]));
}
