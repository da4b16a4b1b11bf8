/** `millrace role`: the calls of the management API, and its output. */
import { expect } from 'chai';
import type { ParsedArguments } from '../../../src/cli/parser.js';
import { roleCommand } from '../../../src/cli/role-command.js';

const GIVEN = {
  assignment_id: 'asg_1',
  role: 'support',
  email: '',
  provider: 'sso',
  group: 'crew',
  resource_id: '',
  creation_time: 1,
};

describe('millrace role', () => {
  const run = async (verb: string, asked: Partial<ParsedArguments>, answer: unknown = 'OK') => {
    const calls: unknown[][] = [];
    const texts: string[] = [];
    const mgmt = {
      ask: async (...call: unknown[]) => {
        calls.push(call);
        return answer;
      },
    };
    const given = { words: [], options: {}, flags: new Set<string>(), ...asked };
    const code = await roleCommand(verb, given, { mgmt, write: (text) => void texts.push(text) });
    expect(code).to.equal(0);
    return { calls, text: texts.join('') };
  };

  it('lists roles and assignments as tables', async () => {
    const roles = [{ name: 'support', built_in: false, rights: ['queues:read'] }];
    expect((await run('list', {}, roles)).text).to.match(/support +own +queues:read/);
    expect((await run('given', {}, [GIVEN])).text).to.match(/asg_1 +support +sso:crew +the account/);
  });

  it('makes a role from rights with commas between them', async () => {
    const asked = { words: ['support'], options: { rights: 'queues:read,queues:use' } };
    const { calls, text } = await run('create', asked, { name: 'support', rights: ['queues:read', 'queues:use'] });
    expect(calls).to.deep.equal([['POST', '/v2/roles', { name: 'support', rights: ['queues:read', 'queues:use'] }]]);
    expect(text).to.equal('support: queues:read queues:use\n');
  });

  it('gives a role to a person, or to a group of a provider for one resource', async () => {
    const person = await run('give', { words: ['support'], options: { to: 'ada@example.com' } }, GIVEN);
    expect(person.calls[0]?.[2]).to.deep.equal({ role: 'support', email: 'ada@example.com' });
    const group = await run('give', { words: ['support'], options: { to: 'sso:crew', for: 'id' } }, GIVEN);
    expect(group.calls[0]?.[2]).to.deep.equal({ role: 'support', provider: 'sso', group: 'crew', resource_id: 'id' });
    expect(group.text).to.equal('asg_1: sso:crew has the role support\n');
    expect((await run('take', { words: ['asg_1'] })).calls).to.deep.equal([['DELETE', '/v2/role-assignments/asg_1']]);
  });

  it('audit-log prints JSON lines, oldest first, after the entry of an earlier export', async () => {
    const log = ['c', 'b', 'a'].map((log_id) => ({ log_id }));
    const options = { from: '2026-05-01T12:00:00Z', after: 'a' };
    const { calls, text } = await run('audit-log', { options }, log);
    expect(calls).to.deep.equal([['GET', '/v2/auditlogs?from=1777636800']]);
    expect(text).to.equal('{"log_id":"b"}\n{"log_id":"c"}\n');
    const refused = await run('audit-log', { options: { to: 'tomorrow' } }).catch((error: unknown) => error);
    expect(String(refused)).to.include('--to accepts an instant');
  });

  it('audit-export shows, sets and removes the address, with the position, the ages and the last error', async () => {
    const none = await run('audit-export', {}, { url: '', lag_seconds: 0, undelivered_seconds: 0 });
    expect(none).to.deep.equal({
      calls: [['GET', '/v2/auditlogs/export']],
      text: 'the audit log is not exported\n',
    });
    const url = 'https://a.example/audit';
    const found = { url, lag_seconds: 0, position: 41, undelivered_seconds: 7, problem: 'HTTP status 500' };
    const set = await run('audit-export', { words: [url] }, found);
    expect(set.calls).to.deep.equal([['POST', '/v2/auditlogs/export', { url }]]);
    expect(set.text.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['address', url],
      ['accepted up to position', '41'],
      ['not accepted for', '0 s'],
      ['not delivered for', '7 s'],
      ['last error', 'HTTP status 500'],
      [''],
    ]);
    const flags = new Set(['remove']);
    const removed = await run('audit-export', { flags });
    expect(removed.calls).to.deep.equal([['DELETE', '/v2/auditlogs/export']]);
    const refused = await run('audit-export', { words: [url], flags }).catch((error: unknown) => error);
    expect(String(refused)).to.include('a URL or --remove, not both');
  });

  it('deletes a role only with --yes', async () => {
    const refused = await run('delete', { words: ['support'] }).catch((error: unknown) => error);
    expect(String(refused)).to.include('confirm with --yes');
    const { calls } = await run('delete', { words: ['my role'], flags: new Set(['yes']) });
    expect(calls).to.deep.equal([['DELETE', '/v2/roles/my%20role']]);
  });
});
