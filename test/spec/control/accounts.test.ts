import { expect } from 'chai';
import { ACCOUNT_LIMITS, DEFAULT_ACCOUNT_LIMITS, rebuildingEvents } from '../../../src/domain/control/index.js';
import type { AccountId } from '../../../src/kernel/index.js';
import { ACCOUNT, ACCOUNT_SECRETS_OF, accountCreated, given, INSTALLED, NOW_MS, secret, stateAfter } from './given.js';

const SECOND = 'ac-second' as AccountId;
const atMs = NOW_MS;

const second = (over: Record<string, unknown> = {}) => ({
  type: 'CreateAccount' as const,
  account: {
    id: SECOND,
    name: 'second',
    email: 'c@d.example',
    secrets: ACCOUNT_SECRETS_OF('second'),
    readOnlyToken: secret('second-ro'),
    ...over,
  },
});

const tokensSet = (account: AccountId, name: string) => ({
  type: 'QueueTokensSet' as const,
  account,
  queueToken: secret(`${name}-queue`),
  readOnlyToken: secret(`${name}-ro`),
  atMs,
});

describe('control: queue accounts', () => {
  it('are created with new tokens, and creating one again gives the same answer', () => {
    const { readOnlyToken: _, ...created } = second().account;
    const events = [{ type: 'AccountCreated' as const, ...created, createdAtMs: NOW_MS }, tokensSet(SECOND, 'second')];
    given(...INSTALLED)
      .when(second())
      .then(...events);
    given(...INSTALLED, ...events)
      .when(second())
      .then();
  });

  it('are refused with the id, email or token of another account, and with invalid limits', () => {
    const there = [...INSTALLED, tokensSet(ACCOUNT, 'first')];
    const refuses = (over: Record<string, unknown>, reason: string) =>
      expect(given(...there).when(second(over)).reply).to.include({ type: 'Rejected', reason });
    refuses({ id: ACCOUNT }, 'ID_TAKEN');
    refuses({ email: 'a@b.example' }, 'NAME_TAKEN');
    refuses({ name: '' }, 'BAD_NAME');
    refuses({ readOnlyToken: secret('first-ro') }, 'SECRET_TAKEN');
    refuses({ readOnlyToken: ACCOUNT_SECRETS_OF('second').queueToken }, 'SECRET_TAKEN');
    refuses(
      { secrets: { ...ACCOUNT_SECRETS_OF('second'), mgmtKey: ACCOUNT_SECRETS_OF(ACCOUNT).mgmtKey } },
      'SECRET_TAKEN',
    );
    refuses({ limits: { ...DEFAULT_ACCOUNT_LIMITS, maxRetries: -1 } }, 'BAD_LIMITS');
  });

  it('open their queue with the current tokens only', () => {
    const before = stateAfter(...INSTALLED, tokensSet(ACCOUNT, 'old'));
    expect(before.queueTokens.get('hash-old-ro')).to.deep.equal({ account: ACCOUNT, role: 'read-only' });
    const after = stateAfter(...INSTALLED, tokensSet(ACCOUNT, 'old'), tokensSet(ACCOUNT, 'new'));
    expect([...after.queueTokens.keys()]).to.deep.equal(['hash-new-queue', 'hash-new-ro']);
  });

  it('change only the named limits', () => {
    given(...INSTALLED)
      .when({ type: 'SetAccountLimits', account: ACCOUNT, limits: { maxRetries: 3 } })
      .then({ type: 'AccountLimitsSet', account: ACCOUNT, limits: { ...DEFAULT_ACCOUNT_LIMITS, maxRetries: 3 }, atMs });
    const limits = { ...DEFAULT_ACCOUNT_LIMITS, maxRetries: 3 };
    given(...INSTALLED, { type: 'AccountLimitsSet', account: ACCOUNT, limits, atMs })
      .when({ type: 'SetAccountLimits', account: ACCOUNT, limits: { maxQueues: 1 } })
      .then({ type: 'AccountLimitsSet', account: ACCOUNT, limits: { ...limits, maxQueues: 1 }, atMs });
  });

  for (const [name, { low, high }] of Object.entries(ACCOUNT_LIMITS)) {
    it(`have a ${name} from ${low} to ${high}`, () => {
      const of = (value: number) =>
        given(...INSTALLED).when({ type: 'SetAccountLimits', account: ACCOUNT, limits: { [name]: value } }).reply.type;
      expect([of(low - 1), of(low), of(high), of(high + 1)]).to.deep.equal([
        'Rejected',
        'OneAccount',
        'OneAccount',
        'Rejected',
      ]);
    });
  }

  it('are suspended and activated, once each', () => {
    const suspended = { type: 'AccountStateSet' as const, account: ACCOUNT, state: 'passive' as const, atMs };
    given(...INSTALLED)
      .when({ type: 'SetAccountState', account: ACCOUNT, state: 'passive' })
      .then(suspended);
    given(...INSTALLED, suspended)
      .when({ type: 'SetAccountState', account: ACCOUNT, state: 'passive' })
      .then();
    given(...INSTALLED)
      .when({ type: 'SetAccountState', account: ACCOUNT, state: 'active' })
      .then();
  });

  it('rotate their signing keys: the next key becomes current, a new one becomes next; a repeated command rotates once', () => {
    const next = secret('fresh');
    const rotated = {
      type: 'SigningKeysRotated' as const,
      account: ACCOUNT,
      current: ACCOUNT_SECRETS_OF(ACCOUNT).signingKeyNext,
      next,
      atMs,
    };
    given(...INSTALLED)
      .when({ type: 'RotateSigningKeys', account: ACCOUNT, next })
      .then(rotated);
    given(...INSTALLED, rotated)
      .when({ type: 'RotateSigningKeys', account: ACCOUNT, next })
      .then();
  });

  it('that do not exist are refused', () => {
    const account = 'ac-nobody' as AccountId;
    for (const command of [
      { type: 'SetAccountLimits' as const, account, limits: {} },
      { type: 'SetAccountState' as const, account, state: 'passive' as const },
      { type: 'RotateSigningKeys' as const, account, next: secret('x') },
    ]) {
      expect(given(...INSTALLED).when(command).reply).to.include({ type: 'Rejected', reason: 'UNKNOWN_ACCOUNT' });
    }
  });

  it('are rebuilt from a snapshot unchanged', () => {
    const state = stateAfter(
      ...INSTALLED,
      tokensSet(ACCOUNT, 'new'),
      { type: 'AccountLimitsSet', account: ACCOUNT, limits: { ...DEFAULT_ACCOUNT_LIMITS, maxDlqEntries: 7 }, atMs },
      { type: 'AccountStateSet', account: ACCOUNT, state: 'passive', atMs },
      { ...accountCreated(SECOND), secrets: ACCOUNT_SECRETS_OF('second') } as ReturnType<typeof accountCreated>,
    );
    const again = stateAfter(...rebuildingEvents(state));
    expect(again.accounts).to.deep.equal(state.accounts);
    expect(new Map([...again.queueTokens].sort())).to.deep.equal(new Map([...state.queueTokens].sort()));
  });
});
