import { expect } from 'chai';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import { type DbCommandDeps, dbCommand } from '../../../src/cli/db-command.js';
import { auditActionText, type ControlEvent, evolve } from '../../../src/domain/control/index.js';
import { type AccountId, type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import { hashSecret, uuidOf } from '../../../src/protocol/index.js';
import { INSTALLED } from '../../spec/control/given.js';
import { typed } from '../../support/command-lines.js';
import { MemoryControl, namedSealing } from '../../support/memory-control.js';

describe('millrace db', () => {
  let control: MemoryControl;
  let flushed: string[];
  let failure: Error | undefined;
  let losses: Error[];

  beforeEach(() => {
    control = new MemoryControl();
    for (const event of INSTALLED.slice(0, 1)) evolve(control.state, event);
    evolve(control.state, {
      type: 'FirstStarted',
      account: 'ac-first' as never,
      database: 'db-none' as never,
      atMs: 0,
    });
    flushed = [];
    failure = undefined;
    losses = [];
  });

  async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    let out = '';
    const deps: DbCommandDeps = {
      client: {
        send: async (command) => {
          const reply = await control.send(command);
          const lost = losses.shift();
          if (lost !== undefined) throw lost;
          return reply;
        },
      },
      sealing: namedSealing(),
      random: new NodeRandom(),
      defaultLimits: { maxCommandBytes: 5000, maxRequestsPerDay: 0 },
      pause: async () => undefined,
      write: (text) => {
        out += text;
      },
      flush: async (_, partitions) => {
        if (failure !== undefined) throw failure;
        flushed.push(...partitions);
      },
    };
    const { code, err } = await typed(['db', ...argv], { db: (verb, asked) => dbCommand(verb, asked, deps) });
    return { code, out, err };
  }

  const field = (out: string, name: string) => new RegExp(`^${name} +(.+)$`, 'm').exec(out)?.[1] as string;

  it('create prints the id, tokens and password of the new database', async () => {
    const { code, out } = await run('create', '--name', 'shop', '--partitions', '3', '--max-requests-per-day', '10');
    expect(code).to.equal(0);
    const id = field(out, 'id') as DatabaseId;
    expect(id).to.match(/^db-[a-z2-7]{16}$/);
    expect(control.state.live(id)).to.deep.include({
      name: 'shop',
      partitions: 3,
      limits: { maxCommandBytes: 5000, maxRequestsPerDay: 10 },
    });
    expect(control.state.tokens.get(hashSecret(field(out, 'token')))).to.deep.equal({ database: id, role: 'standard' });
    expect(control.state.tokens.get(hashSecret(field(out, 'read-only token')))?.role).to.equal('read-only');
    expect(control.state.passwords.get(hashSecret(field(out, 'password')))).to.equal(id);
  });

  it('create --cluster makes a database in cluster mode, and --json shows it', async () => {
    const made = JSON.parse((await run('create', '--name', 'hot', '--cluster', '--partitions', '8', '--json')).out);
    expect(made).to.include({ partitions: 8, cluster: true });
    expect(control.state.live(made.id)).to.include({ isCluster: true });
    expect(JSON.parse((await run('create', '--name', 'plain', '--json')).out).cluster).to.equal(false);
  });

  it('list omits secrets, unless they are requested', async () => {
    const { out: made } = await run('create', '--name', 'shop');
    const plain = await run('list');
    expect(plain.code).to.equal(0);
    expect(plain.out).to.contain('shop').and.contain('no limit').and.not.contain(field(made, 'token'));
    const full = await run('list', '--show-secrets');
    for (const name of ['token', 'read-only token', 'password']) expect(full.out).to.contain(field(made, name));
  });

  it('prints JSON with --json', async () => {
    const made = JSON.parse((await run('create', '--name', 'shop', '--json')).out);
    expect(made).to.include({ name: 'shop', state: 'active', partitions: 1, maxCommandBytes: 5000 });
    const [plain] = JSON.parse((await run('list', '--json')).out);
    expect(plain).to.include({ id: made.id, account: made.account }).and.not.have.any.keys('token', 'password');
    expect(plain.today.commands).to.equal(0);
    expect(JSON.parse((await run('list', '--json', '--show-secrets')).out)[0]).to.include({ token: made.token });
    expect(JSON.parse((await run('suspend', 'shop', '--json')).out).state).to.equal('suspended');
    expect(JSON.parse((await run('delete', 'shop', '--yes', '--json')).out)).to.include({ id: made.id, deleted: true });
  });

  it('reset-password by name ends the old password and tokens', async () => {
    const { out: made } = await run('create', '--name', 'shop');
    const { code, out } = await run('reset-password', 'shop');
    expect(code).to.equal(0);
    for (const name of ['token', 'read-only token']) {
      expect(control.state.tokens.has(hashSecret(field(made, name)))).to.equal(false);
      expect(control.state.tokens.has(hashSecret(field(out, name)))).to.equal(true);
    }
    expect(control.state.passwords.has(hashSecret(field(made, 'password')))).to.equal(false);
  });

  it('limits changes limits by id', async () => {
    const { out: made } = await run('create', '--name', 'shop');
    const { code, out } = await run('limits', field(made, 'id'), '--max-requests-per-day', '7');
    expect(code).to.equal(0);
    expect(out).to.contain('max-command-bytes=5000 max-requests-per-day=7');
  });

  it('delete needs --yes, and removes the tokens first, then the data of every partition', async () => {
    const { out: made } = await run('create', '--name', 'shop', '--partitions', '2');
    const id = field(made, 'id');
    expect((await run('delete', 'shop')).code).to.equal(2);
    expect(flushed).to.deep.equal([]);
    expect((await run('delete', 'shop', '--yes')).code).to.equal(0);
    expect(flushed).to.deep.equal([`kv:${id}:0`, `kv:${id}:1`]);
    expect((await run('list')).out).to.not.contain('shop');
  });

  it('suspend and activate note the change in the audit log', async () => {
    const { out: made } = await run('create', '--name', 'shop');
    const id = field(made, 'id') as DatabaseId;
    expect((await run('suspend', 'shop')).out).to.equal(`${id} state=suspended\n`);
    expect(control.state.live(id)?.settings?.isSuspended).to.equal(true);
    expect((await run('activate', 'shop')).out).to.equal(`${id} state=active\n`);
    expect((await run('activate', 'nobody')).code).to.equal(1);
    const noted = [...control.state.audit.all()];
    expect(noted.map(({ action }) => auditActionText(action))).to.deep.equal([
      'Create Database',
      'Suspend Database',
      'Activate Database',
    ]);
    expect(noted[0]).to.include({ actor: 'operator', source: 'COMMAND LINE', entity: 'shop', account: 'ac-first' });
  });

  it('accepts the UUIDs of the management API for databases and accounts', async () => {
    const account = 'ac-abcdefghijklmnop' as AccountId;
    const [{ type: _, ...first }] = INSTALLED as [Extract<ControlEvent, { type: 'AccountCreated' }>];
    evolve(control.state, { type: 'AccountCreated', ...first, id: account, email: 'c@d.example' });
    const { out: made } = await run('create', '--name', 'shop', '--account', uuidOf(account));
    const id = field(made, 'id') as DatabaseId;
    expect(control.state.live(id)?.account).to.equal(account);
    expect((await run('limits', uuidOf(id), '--max-requests-per-day', '7')).out).to.contain(id);
    expect((await run('delete', uuidOf(id).toUpperCase(), '--yes')).code).to.equal(0);
  });

  it('delete can be repeated for a deleted database to remove its data', async () => {
    const { out: made } = await run('create', '--name', 'shop');
    failure = new MillraceError('SHARD_UNAVAILABLE', 'no owner');
    const failed = await run('delete', 'shop', '--yes');
    expect(failed.code).to.equal(1);
    expect(failed.err).to.contain('run the command again').and.contain('no owner');
    failure = undefined;
    expect((await run('delete', field(made, 'id'), '--yes')).code).to.equal(0);
    expect(flushed).to.have.length(1);
  });

  it('create is repeated when an answer was lost, and creates one database', async () => {
    losses = [new MillraceError('OUTCOME_UNKNOWN', 'lost'), new MillraceError('TIMED_OUT', 'lost')];
    const { code, out } = await run('create', '--name', 'shop');
    expect(code).to.equal(0);
    expect(control.state.databases.size).to.equal(1);
    expect(control.state.tokens.has(hashSecret(field(out, 'token')))).to.equal(true);
    losses = Array.from({ length: 9 }, () => new MillraceError('SHARD_UNAVAILABLE', 'nobody owns it'));
    expect(await run('list')).to.include({ code: 1, err: 'millrace db: nobody owns it\n' });
  });

  it('prints a refusal in one line, with exit code 1', async () => {
    await run('create', '--name', 'shop');
    const taken = await run('create', '--name', 'shop');
    expect(taken).to.deep.equal({ code: 1, out: '', err: 'millrace db: there is a database named shop already\n' });
    const unknown = await run('reset-password', 'nobody');
    expect(unknown).to.include({ code: 1, err: 'millrace db: there is no database nobody\n' });
  });

  it('prints its usage for wrong arguments, with exit code 2', async () => {
    for (const argv of [
      [],
      ['drop'],
      ['create'],
      ['create', '--name', 'x', '--partitions', 'two'],
      ['create', '--name', 'x', '--nonsense'],
      ['list', 'extra'],
      ['limits', 'x'],
      ['reset-password'],
    ]) {
      const { code, err, out } = await run(...argv);
      expect(code, argv.join(' ')).to.equal(2);
      expect(err).to.contain('usage: millrace db');
      expect(out).to.equal('');
    }
  });
});
