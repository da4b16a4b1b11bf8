/** The control view's answers about accounts for edges and owners. */
import { expect } from 'chai';
import { Accounts, type ControlView } from '../../../../src/actors/control/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import { DEFAULT_ACCOUNT_LIMITS } from '../../../../src/domain/control/index.js';
import { type AccountId, isMillraceError } from '../../../../src/kernel/index.js';
import { hashSecret } from '../../../../src/protocol/index.js';
import { ACCOUNT, ACCOUNT_SECRETS_OF, INSTALLED } from '../../../spec/control/given.js';
import { namedSealing } from '../../../support/memory-control.js';
import { Installation, runReadyTasks } from './installation.js';

describe('queue accounts in the control view', () => {
  let installation: Installation;
  let view: ControlView;
  let accounts: Accounts;
  const [created] = INSTALLED;

  beforeEach(async () => {
    installation = new Installation();
    await installation.activate();
    const { type: _, createdAtMs: __, ...account } = created as Extract<typeof created, { type: 'AccountCreated' }>;
    await installation.ask({
      type: 'CreateAccount',
      account: {
        ...account,
        secrets: { ...ACCOUNT_SECRETS_OF(ACCOUNT), queueToken: { sha256: hashSecret('full'), sealed: 'x' } },
        readOnlyToken: { sha256: hashSecret('look'), sealed: 'y' },
      },
    });
    view = installation.newView('edge');
    await view.start();
    const sealing = namedSealing();
    accounts = new Accounts(
      { view, client: installation.client, random: new NodeRandom(), sealing: () => sealing },
      { centsPer100kMessages: 100 },
    );
  });

  afterEach(() => view.stop());

  it('are found by their tokens, each with its role, under the default limits', () => {
    const terms = { limits: DEFAULT_ACCOUNT_LIMITS, state: 'active', centsPer100kMessages: 100 };
    expect(accounts.grantForQueueToken('full')).to.deep.equal({ account: ACCOUNT, role: 'standard', terms });
    expect(accounts.grantForQueueToken('look')).to.deep.equal({ account: ACCOUNT, role: 'read-only', terms });
    expect(accounts.grantForQueueToken('other')).to.equal(undefined);
  });

  it('are found by the user in their token after it was decrypted', async () => {
    const token = (user: unknown) => {
      const text = Buffer.from(JSON.stringify({ UserID: user, Password: 'p' })).toString('base64');
      return { sha256: hashSecret(text), sealed: namedSealing().seal(text) };
    };
    const reset = async (user: unknown) => {
      const readOnlyToken = { sha256: hashSecret(`look ${user}`), sealed: 'y' };
      const tokens = { queueToken: token(user), readOnlyToken };
      await installation.ask({ type: 'ResetQueueTokens', account: ACCOUNT, tokens });
      await runReadyTasks();
    };
    expect(accounts.grantForQueueUser('me')).to.equal(undefined);
    await reset('me');
    expect(accounts.grantForQueueUser('me')).to.deep.include({ account: ACCOUNT, role: 'standard' });
    expect(accounts.grantForQueueUser('you')).to.equal(undefined);
    await installation.ask({ type: 'SetAccountState', account: ACCOUNT, state: 'passive' });
    await runReadyTasks();
    expect(accounts.grantForQueueUser('me')?.terms.state).to.equal('passive');
    await reset(7);
    expect(accounts.grantForQueueUser('me')).to.equal(undefined);
    view.stop();
    expect(() => accounts.grantForQueueUser('me'))
      .to.throw()
      .that.satisfies((e: unknown) => isMillraceError(e, 'CONTROL_STALE'));
  });

  it('are not found by a user that two accounts have', async () => {
    const text = Buffer.from(JSON.stringify({ UserID: 'me' })).toString('base64');
    const other = 'ac-bbbbbbbbbbbbbbbb' as AccountId;
    const { type: _, createdAtMs: __, ...account } = created as Extract<typeof created, { type: 'AccountCreated' }>;
    const secrets = (id: AccountId, sha256: string) => ({
      ...ACCOUNT_SECRETS_OF(id),
      queueToken: { sha256, sealed: namedSealing().seal(text) },
    });
    await installation.ask({
      type: 'CreateAccount',
      account: { ...account, id: other, email: 'other@example.com', secrets: secrets(other, hashSecret('one')) },
    });
    await runReadyTasks();
    expect(accounts.grantForQueueUser('me')?.account).to.equal(other);
    const third = 'ac-cccccccccccccccc' as AccountId;
    await installation.ask({
      type: 'CreateAccount',
      account: { ...account, id: third, email: 'third@example.com', secrets: secrets(third, hashSecret('two')) },
    });
    await runReadyTasks();
    expect(accounts.grantForQueueUser('me')).to.equal(undefined);
  });

  it('list the event limit of each account, unless the copy may be stale', async () => {
    expect([...(accounts.eventLimits() ?? [])]).to.deep.equal([[ACCOUNT, DEFAULT_ACCOUNT_LIMITS.maxEvents]]);
    await installation.ask({ type: 'SetAccountLimits', account: ACCOUNT, limits: { maxEvents: 0 } });
    await runReadyTasks();
    expect([...(accounts.eventLimits() ?? [])]).to.deep.equal([[ACCOUNT, 0]]);
    view.stop();
    expect(accounts.eventLimits()).to.equal(undefined);
  });

  it('have new limits and a new state immediately, and listeners are notified', async () => {
    let told = 0;
    accounts.whenChanged(() => {
      told += 1;
    });
    expect(accounts.termsOf(ACCOUNT)?.limits.maxQueues).to.equal(DEFAULT_ACCOUNT_LIMITS.maxQueues);
    await installation.ask({ type: 'SetAccountLimits', account: ACCOUNT, limits: { maxQueues: 1 } });
    await installation.ask({ type: 'SetAccountState', account: ACCOUNT, state: 'passive' });
    await runReadyTasks();
    expect(accounts.termsOf(ACCOUNT)).to.deep.include({ state: 'passive' });
    expect(accounts.grantForQueueToken('full')?.terms.limits.maxQueues).to.equal(1);
    expect(told).to.be.greaterThan(0);
  });

  it('accept no token while this process has no fresh copy of the control stream', async () => {
    view.stop();
    expect(() => accounts.grantForQueueToken('full'))
      .to.throw()
      .that.satisfies((e: unknown) => isMillraceError(e, 'CONTROL_STALE'));
  });

  it('sign with the announced key once it is rotated in', async () => {
    const sealing = namedSealing();
    const next = sealing.seal('sig_next');
    await installation.ask({
      type: 'RotateSigningKeys',
      account: ACCOUNT,
      next: { sha256: hashSecret('sig_next'), sealed: next },
    });
    const keys = await accounts.rotateSigningKeys(ACCOUNT);
    expect(keys.current).to.equal('sig_next');
    expect(keys.next).to.match(/^sig_.{28,}$/);
    await runReadyTasks();
    expect(accounts.signingKeysOf(ACCOUNT)).to.deep.equal(keys);
  });
});
