/** Checks of live sessions at their identity providers. Proves IDC1, IDC2, IDC3. */
import { expect } from 'chai';
import { ProviderChecks } from '../../../src/actors/control/index.js';
import { type ControlCommand, evolve } from '../../../src/domain/control/index.js';
import { MillraceError, SIGN_IN_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import type { IdentityProviders, ProviderTokens } from '../../../src/ports/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { MemoryControl, namedSealing } from '../../support/memory-control.js';
import { silentLog } from '../../support/silent-log.js';
import { atMs, CARL, PEOPLE, TEAM } from './management-given.js';

const TOKENS: ProviderTokens = { access: 'a', accessUntilMs: 0, hasUserGroups: true };
const EVERY_MS = 20_000;
const SESSION_MS = 12 * 3_600_000;

class Stand {
  readonly control = new MemoryControl();
  readonly time = new ManualTime();
  readonly sealing = namedSealing();
  isOwner = true;
  /** Answers a check; the tokens may be newer ones. */
  check: IdentityProviders['check'] = async () => ({ subject: 'carl', email: CARL, groups: ['crew'], tokens: TOKENS });
  readonly checks: ProviderChecks;

  constructor() {
    this.control.nowMs = atMs;
    for (const event of PEOPLE) evolve(this.control.state, event);
    evolve(this.control.state, { type: 'FormatRaised', level: SIGN_IN_FORMAT_LEVEL, by: 'test', atMs });
    const providers: Pick<IdentityProviders, 'check' | 'rolesOf'> = {
      check: (...given) => this.check(...given),
      rolesOf: () => [{ group: 'crew', role: 'dev', account: TEAM }],
    };
    this.checks = new ProviderChecks(
      {
        control: this.control,
        providers,
        sealing: this.sealing,
        state: () => this.control.state,
        isOwner: () => this.isOwner,
        clock: { nowMs: () => this.control.nowMs, monotonicMs: () => this.control.nowMs },
        timers: this.time,
        log: silentLog,
      },
      EVERY_MS,
    );
  }

  async begin(name: string): Promise<void> {
    const command: ControlCommand = {
      type: 'BeginSession',
      session: {
        name,
        email: CARL,
        account: TEAM,
        provider: 'sso',
        keyName: '',
        ip: '',
        agent: '',
        untilMs: atMs + SESSION_MS,
        tokens: this.sealing.seal(JSON.stringify(TOKENS)),
      },
      person: { email: CARL, provider: 'sso', subject: 'carl', roles: [{ account: TEAM, role: 'dev' }] },
    };
    expect((await this.control.send(command)).type).to.equal('SessionIs');
  }

  get live(): string[] {
    return [...this.control.state.sessions.byName.keys()];
  }
}

describe('checks of sessions at their identity providers', () => {
  it('end sessions whose groups give no role any more (IDC1)', async () => {
    const stand = new Stand();
    await stand.begin('one');
    await stand.checks.look();
    expect(stand.live).to.deep.equal(['one']);
    stand.check = async () => ({ subject: 'carl', email: CARL, groups: [], tokens: TOKENS });
    await stand.checks.look();
    expect([stand.live, [...stand.control.state.audit.all()].length]).to.deep.equal([[], 1]);
  });

  it('end a session that the provider refuses (IDC1)', async () => {
    const stand = new Stand();
    await stand.begin('one');
    stand.check = () =>
      Promise.reject(new MillraceError('INVALID', 'the identity provider sso refused: invalid_grant'));
    await stand.checks.look();
    const [line] = [...stand.control.state.audit.all()];
    expect([stand.live, line?.reason]).to.deep.equal([[], 'the identity provider sso refused: invalid_grant']);
  });

  it('store refreshed tokens', async () => {
    const stand = new Stand();
    await stand.begin('one');
    const tokens = { ...TOKENS, access: 'b' };
    stand.check = async () => ({ subject: 'carl', email: CARL, groups: ['crew'], tokens });
    await stand.checks.look();
    const stored = stand.control.state.sessions.byName.get('one')?.tokens ?? '';
    expect(JSON.parse(stand.sealing.open(stored))).to.deep.equal(tokens);
  });

  it('end no session while the provider is silent for less than five minutes (IDC2)', async () => {
    const stand = new Stand();
    await stand.begin('one');
    const known = stand.check;
    const silent = () => Promise.reject(new MillraceError('TIMED_OUT', 'no answer'));
    stand.check = silent;
    await stand.checks.look();
    stand.control.nowMs += 299_000;
    await stand.checks.look();
    expect(stand.live).to.deep.equal(['one']);
    stand.check = known;
    await stand.checks.look();
    stand.check = silent;
    await stand.checks.look();
    stand.control.nowMs += 300_000;
    await stand.checks.look();
    expect(stand.live).to.deep.equal([]);
  });

  it('are made by the owner alone, eight at a time, and one look after the other (IDC3)', async () => {
    const stand = new Stand();
    for (let at = 0; at < 20; at += 1) await stand.begin(`s${at}`);
    let running = 0;
    let most = 0;
    let asked = 0;
    stand.check = async () => {
      running += 1;
      asked += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return { subject: 'carl', email: CARL, groups: ['crew'], tokens: TOKENS };
    };
    await Promise.all([stand.checks.look(), stand.checks.look()]);
    expect([most, asked]).to.deep.equal([8, 20]);
    stand.isOwner = false;
    await stand.checks.look();
    expect(asked).to.equal(20);
  });
});
