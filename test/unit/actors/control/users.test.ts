/** Users through the control actor: from a change to the grants of edges. Proves UT1, UT2. */
import { expect } from 'chai';
import { AclAdministration, type ControlView } from '../../../../src/actors/control/index.js';
import { ErrorReply, findCommand, type Reply } from '../../../../src/domain/kv/index.js';
import { AclCommands } from '../../../../src/edge/index.js';
import type { ByteString } from '../../../../src/kernel/index.js';
import { hashSecret } from '../../../../src/protocol/index.js';
import { ACCOUNT, ACCOUNT_SECRETS_OF, db, LIMITS } from '../../../spec/control/given.js';
import { seededRandom } from '../../../support/kv-bench.js';
import { standOfEachTest } from '../../../support/stand-hooks.js';
import { Installation } from './installation.js';

const real = (text: string) => ({ sha256: hashSecret(text), sealed: 's' });
const secrets = {
  standardToken: real('first-token'),
  readOnlyToken: real('first-ro'),
  password: real('first-password'),
};

class Stand {
  readonly installation = new Installation();
  view!: ControlView;
  other!: ControlView;
  commands!: AclCommands;

  async start(): Promise<this> {
    const { installation } = this;
    await installation.activate();
    await installation.ask({
      type: 'FirstStart',
      account: { id: ACCOUNT, name: 'a', email: 'e', secrets: ACCOUNT_SECRETS_OF('a') },
      database: { id: db('first'), name: 'first', account: ACCOUNT, partitions: 1, limits: LIMITS, secrets },
    });
    this.view = installation.newView('edge');
    this.other = installation.newView('other');
    void this.view.start();
    void this.other.start();
    await installation.time.advance(200);
    const random = seededRandom(3);
    const admin = new AclAdministration(installation.client, this.view, random);
    this.commands = new AclCommands({ admin, clock: installation.time, random });
    return this;
  }

  stop(): void {
    this.view.stop();
    this.other.stop();
  }

  async acl(...words: ByteString[]): Promise<Reply> {
    const grant = this.view.grantFor('first-token');
    const all = ['ACL', ...words];
    const spec = findCommand(all);
    if (grant === undefined || spec === undefined) throw new Error('no grant, or no command');
    const reply = await this.commands.run(grant, spec, all, { address: '127.0.0.1:1' });
    return reply instanceof ErrorReply ? `-${reply.text}` : (reply ?? null);
  }

  /** Whether the grant allows this command. */
  may(grant: ReturnType<ControlView['grantFor']>, line: string): boolean {
    const words = line.split(' ');
    const spec = findCommand(words);
    return spec !== undefined && grant?.permissions?.refusal(spec, words) === undefined && grant !== undefined;
  }
}

describe('control: users on edges', () => {
  const stand = standOfEachTest(() => new Stand().start());

  it('sign in with a password once they are on, on every edge by the time SETUSER is answered', async () => {
    await stand.acl('SETUSER', 'alice', '>pw', '~a*', '+get');
    expect(stand.view.grantForLogin('alice', 'pw')).to.equal(undefined);
    await stand.acl('SETUSER', 'alice', 'on');
    for (const view of [stand.view, stand.other]) {
      const grant = view.grantForLogin('alice', 'pw');
      expect(grant).to.include({ user: 'alice', database: db('first') });
      expect(stand.may(grant, 'GET a1')).to.equal(true);
      expect(stand.may(grant, 'GET b1')).to.equal(false);
      expect(stand.may(grant, 'SET a1 x')).to.equal(false);
      expect(view.grantForLogin(`${db('first')}/alice`, 'pw')?.user).to.equal('alice');
      expect(view.grantForLogin('alice', 'other')).to.equal(undefined);
      expect(view.grantForLogin('bob', 'pw')).to.equal(undefined);
    }
  });

  it('sign in as default with the password of their database', () => {
    for (const user of [undefined, 'default', `${db('first')}/default`]) {
      expect(stand.view.grantForLogin(user, 'first-password'), user).to.include({ user: 'default', role: 'standard' });
    }
    expect(stand.view.grantForLogin(undefined, 'first-token')).to.equal(undefined);
    expect(stand.view.grantForLogin('default_ro', 'first-password')).to.equal(undefined);
  });

  it('sign in with any password when they have nopass', async () => {
    await stand.acl('SETUSER', 'open', 'on', 'nopass', '+@all', '~*', '&*');
    const grant = stand.view.grantForLogin('open', 'whatever');
    expect(grant?.user).to.equal('open');
    expect(grant?.permissions).to.equal(undefined);
  });

  it('have their grants renewed with every change, and lose them with the password', async () => {
    const { view } = stand;
    await stand.acl('SETUSER', 'alice', 'on', '>pw', '~*', '+get');
    const before = view.grantForLogin('alice', 'pw');
    if (before === undefined) throw new Error('no grant');
    const { version } = view;
    await stand.acl('SETUSER', 'bob', 'on');
    expect(view.version).to.be.above(version);
    expect(view.renewed(before)).to.equal(before);
    expect(view.isCurrent(before)).to.equal(true);
    await stand.acl('SETUSER', 'alice', '+set');
    expect(view.isCurrent(before)).to.equal(false);
    const after = view.renewed(before);
    expect(stand.may(before, 'SET a 1')).to.equal(false);
    expect(stand.may(after, 'SET a 1')).to.equal(true);
    await stand.acl('SETUSER', 'alice', '<pw');
    expect(view.renewed(before)).to.equal(undefined);
    expect(after === undefined ? undefined : view.renewed(after)).to.equal(undefined);
  });

  it('call REST with a token that follows their rules and ends with their password', async () => {
    const { view } = stand;
    await stand.acl('SETUSER', 'alice', 'on', '>pw', '>pw2', '~*', '+get');
    const token = (await stand.acl('RESTTOKEN', 'alice', 'pw')) as string;
    expect(token).to.match(/^mru_/);
    expect(await stand.acl('RESTTOKEN', 'alice', 'pw')).to.equal(token);
    expect(await stand.acl('RESTTOKEN', 'alice', 'pw2')).to.not.equal(token);
    expect(stand.other.grantFor(token)).to.include({ user: 'alice' });
    expect(stand.may(stand.other.grantFor(token), 'SET a 1')).to.equal(false);
    await stand.acl('SETUSER', 'alice', '+set');
    expect(stand.may(stand.other.grantFor(token), 'SET a 1')).to.equal(true);
    await stand.acl('SETUSER', 'alice', 'off');
    expect(view.grantFor(token)).to.equal(undefined);
    await stand.acl('SETUSER', 'alice', 'on', '<pw');
    expect(view.grantFor(token)).to.equal(undefined);
    await stand.acl('SETUSER', 'alice', '>pw');
    expect(view.grantFor(token)).to.equal(undefined);
    expect(await stand.acl('RESTTOKEN', 'alice', 'pw')).to.equal(token);
    expect(await stand.acl('DELUSER', 'alice')).to.equal(1);
    expect(view.grantFor(token)).to.equal(undefined);
    // A new user of the same name is another user.
    await stand.acl('SETUSER', 'alice', 'on', '>pw', '~*', '+get');
    expect(view.grantFor(token)).to.equal(undefined);
    expect(await stand.acl('RESTTOKEN', 'alice', 'pw')).to.not.equal(token);
  });

  it('get no token with a wrong password, nor while they are off', async () => {
    await stand.acl('SETUSER', 'alice', '>pw');
    for (const [user, password] of [
      ['alice', 'pw'],
      ['alice', 'x'],
      ['nobody', 'pw'],
      ['default', 'x'],
      ['default_ro', 'x'],
    ] as const) {
      expect(await stand.acl('RESTTOKEN', user, password)).to.equal(
        `-ERR Wrong password or user "${user}" does not exist`,
      );
    }
  });

  it('named default get a token for the password of the database', async () => {
    const token = (await stand.acl('RESTTOKEN', 'default', 'first-password')) as string;
    expect(stand.view.grantFor(token)).to.include({ user: 'default', role: 'standard' });
    const fresh = {
      standardToken: real('new-token'),
      readOnlyToken: real('new-ro'),
      password: real('new-password'),
    };
    await stand.installation.ask({ type: 'ResetPassword', database: db('first'), secrets: fresh });
    expect(stand.view.grantFor(token)).to.equal(undefined);
  });

  it('call REST with a generated token as soon as it is their password', async () => {
    const token = (await stand.acl('GENTOKEN', 'carol')) as string;
    expect(stand.view.grantFor(token)).to.equal(undefined);
    await stand.acl('SETUSER', 'carol', 'on', `>${token}`, '~*', '+get');
    expect(stand.view.grantFor(token)).to.include({ user: 'carol' });
    expect(await stand.acl('RESTTOKEN', 'carol', token)).to.equal(token);
    await stand.acl('SETUSER', 'carol', 'resetpass', 'nopass');
    expect(stand.view.grantFor(token)).to.equal(undefined);
    expect(await stand.acl('GENTOKEN', 'carol', 'short')).to.match(/^-ERR The password is too weak/);
    const derived = await stand.acl('GENTOKEN', 'carol', 'Correct-Horse-9');
    expect(await stand.acl('GENTOKEN', 'carol', 'Correct-Horse-9')).to.equal(derived);
  });

  it('are restored after a restart of the owner, with their tokens', async () => {
    await stand.acl('SETUSER', 'alice', 'on', '>pw', '~caf\xc3\xa9', '+get');
    const token = (await stand.acl('RESTTOKEN', 'alice', 'pw')) as string;
    const before = stand.installation.plane.state;
    await stand.installation.compact();
    await stand.installation.activate();
    expect(stand.installation.plane.state).to.deep.equal(before);
    const late = stand.installation.newView('late');
    void late.start();
    await stand.installation.time.advance(200);
    expect(stand.may(late.grantFor(token), 'GET caf\xc3\xa9')).to.equal(true);
    late.stop();
  });

  it('that two edges change at the same time keep both changes', async () => {
    await stand.acl('SETUSER', 'alice', 'on', '>pw');
    await Promise.all(['+get', '+set', '+del', '~a*', '~b*'].map((rule) => stand.acl('SETUSER', 'alice', rule)));
    const grant = stand.view.grantForLogin('alice', 'pw');
    for (const line of ['GET a', 'SET b 1', 'DEL a']) expect(stand.may(grant, line), line).to.equal(true);
  });

  it('that are built in cannot be changed', async () => {
    expect(await stand.acl('SETUSER', 'default', 'off')).to.equal("-ERR The 'default' user cannot be changed");
    expect(await stand.acl('DELUSER', 'default_ro')).to.equal("-ERR The 'default_ro' user cannot be removed");
    expect(await stand.acl('USERS')).to.deep.equal(['default', 'default_ro']);
  });
});
