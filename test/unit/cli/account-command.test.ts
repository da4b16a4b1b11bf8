import { expect } from 'chai';
import { NodeRandom } from '../../../src/adapters/node/index.js';
import { type AccountCommandDeps, accountCommand } from '../../../src/cli/account-command.js';
import type { RunVerb } from '../../../src/cli/parser.js';
import { auditActionText, evolve } from '../../../src/domain/control/index.js';
import type { AccountId } from '../../../src/kernel/index.js';
import { hashSecret, uuidOf } from '../../../src/protocol/index.js';
import { ACCOUNT, INSTALLED } from '../../spec/control/given.js';
import { TEAM, teamOf } from '../../spec/control/management-given.js';
import { typed } from '../../support/command-lines.js';
import { MemoryControl, namedSealing } from '../../support/memory-control.js';

describe('millrace account', () => {
  let control: MemoryControl;

  beforeEach(() => {
    control = new MemoryControl();
    for (const event of INSTALLED) evolve(control.state, event);
  });

  async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    let out = '';
    const deps: AccountCommandDeps = {
      client: control,
      sealing: namedSealing(),
      random: new NodeRandom(),
      write: (text) => {
        out += text;
      },
    };
    const run: RunVerb = (verb, asked) => accountCommand(verb, asked, deps);
    const { code, err } = await typed(['account', ...argv], { account: run });
    return { code, out, err };
  }

  const field = (out: string, name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(out)?.[1] as string;

  it('suspend and activate use the only account without a name', async () => {
    expect((await run('suspend')).out).to.contain('state=passive');
    expect(control.state.accounts.get(ACCOUNT)?.state).to.equal('passive');
    expect((await run('list')).out).to.contain(`${ACCOUNT}  passive`);
    expect((await run('activate', 'a@b.example')).out).to.contain('state=active');
  });

  it('limits sets limits by name and shows them', async () => {
    const { out } = await run('limits', 'maxRetries=5', 'maxQueues=2');
    expect(out).to.equal('maxRetries=5\nmaxQueues=2\n');
    expect((await run('show')).out).to.contain('maxRetries=5');
  });

  it('create prints tokens that open the new account', async () => {
    const { code, out } = await run('create', '--name', 'two', '--email', 'c@d.example');
    expect(code).to.equal(0);
    const owner = control.state.queueTokens.get(hashSecret(field(out, 'queue-token')));
    expect(owner).to.include({ account: field(out, 'id'), role: 'standard' });
    const reader = control.state.queueTokens.get(hashSecret(field(out, 'queue-readonly-token')));
    expect(reader?.role).to.equal('read-only');
    expect((await run('show')).err).to.contain('2 accounts match');
  });

  it('show prints the UUID of the management API, and accepts it as a name', async () => {
    const { out } = await run('create', '--name', 'two', '--email', 'c@d.example');
    const id = field(out, 'id') as AccountId;
    const shown = await run('show', id);
    expect(field(shown.out, 'uuid')).to.equal(uuidOf(id));
    expect((await run('show', uuidOf(id))).out).to.equal(shown.out);
  });

  it('finds the own account of a person by e-mail or without a name, never a team of the person', async () => {
    for (const event of teamOf()) evolve(control.state, event);
    expect(field((await run('show', 'A@B.example')).out, 'id')).to.equal(ACCOUNT);
    expect(field((await run('show')).out, 'id')).to.equal(ACCOUNT);
    expect(field((await run('show', TEAM)).out, 'id')).to.equal(TEAM);
  });

  it('notes changes in the audit log of the account', async () => {
    await run('suspend');
    await run('suspend');
    await run('activate');
    await run('limits', 'maxRetries=5');
    await run('reset-tokens');
    const noted = [...control.state.audit.all()];
    expect(noted.map(({ action }) => auditActionText(action))).to.deep.equal([
      'Suspend Account',
      'Activate Account',
      'Update Limits',
      'Rotate Queue Token',
    ]);
    expect(new Set(noted.map(({ account }) => account))).to.deep.equal(new Set([ACCOUNT]));
  });

  it('reset-tokens ends the old tokens and prints the new ones', async () => {
    const before = control.state.accounts.get(ACCOUNT)?.secrets.queueToken.sha256 as string;
    const { out } = await run('reset-tokens');
    expect(control.state.queueTokens.has(before)).to.equal(false);
    expect(control.state.queueTokens.get(hashSecret(field(out, 'queue-token')))?.account).to.equal(ACCOUNT);
    expect((await run('show', '--show-secrets')).out).to.contain(field(out, 'queue-token'));
  });

  it('prints JSON with --json, with secrets only where they are requested', async () => {
    const made = JSON.parse((await run('create', '--name', 'two', '--email', 'c@d.example', '--json')).out);
    expect(control.state.queueTokens.get(hashSecret(made.queueToken))?.account).to.equal(made.id);
    const shown = JSON.parse((await run('show', made.id, '--json')).out);
    expect(shown).to.include({ id: made.id, uuid: uuidOf(made.id), state: 'active' });
    expect(shown.limits.maxRetries).to.be.a('number');
    expect(shown).not.to.have.any.keys('queueToken', 'mgmtKey');
    expect(JSON.parse((await run('show', made.id, '--json', '--show-secrets')).out).mgmtKey).to.equal(made.mgmtKey);
    expect(JSON.parse((await run('list', '--json')).out)).to.have.length(2);
  });

  it('reports an error in one line', async () => {
    const wrong: [string[], number, string][] = [
      [[], 2, 'no command was given: see --help'],
      [['frob'], 2, "unknown command 'frob'"],
      [['limits'], 2, 'no limit was given'],
      [['limits', 'maxFoo=1'], 2, 'maxFoo is not a limit'],
      [['limits', 'maxQueues=-1'], 2, 'maxQueues must be a whole number'],
      [['limits', 'maxParallelism=0'], 1, 'maxParallelism must be a whole number from 1'],
      [['create', '--name', 'x'], 2, "required option '--email <email>' not specified"],
      [['suspend', 'nobody'], 1, 'there is no account nobody'],
    ];
    for (const [argv, code, text] of wrong) {
      const outcome = await run(...argv);
      expect(outcome.code, argv.join(' ')).to.equal(code);
      expect(outcome.err).to.contain(text);
    }
  });
});
