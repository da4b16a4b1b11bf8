/** Alert rules: refusals, rights to change them, and the view of a read-only key. */
import { expect } from 'chai';
import { evolve } from '../../../src/domain/control/index.js';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const RULE = {
  name: 'Payments fail',
  kind: 'destination',
  target: 'pay.example',
  threshold: 5,
  window: 300,
  channels: [{ type: 'webhook', address: 'https://pager.example/s3cret' }],
};

interface Rule {
  readonly rule_id: string;
  readonly name: string;
  readonly state: string;
  readonly silent_until: number;
  readonly channels: readonly { readonly address: string }[];
}

describe('management API: alerts', () => {
  const face = standOfEachTest(() => new ManagementHarness().start());

  const made = async (body: object = RULE) => (await face.ok('POST', '/v2/alerts', { body })).json as Rule;
  const rules = async (as = face.owner) =>
    ((await face.ok('GET', '/v2/alerts', { as })).json as { rules: readonly Rule[] }).rules;
  const refused = async (over: object) => {
    const { status, json, misfits } = await face.call('POST', '/v2/alerts', { body: { ...RULE, ...over } });
    expect(misfits).to.deep.equal([]);
    return `${status} ${(json as { error: string }).error}`;
  };
  const raise = (rule: string, number = 1) => {
    const at = { number, account: face.ownerAccount, name: 'Payments fail', kind: 'destination' } as const;
    const raised = { ...at, rule: rule as never, subject: 'pay.example', text: '6 attempts failed' };
    evolve(face.control.state, { type: 'AlertRaised', ...raised, atMs: face.control.nowMs });
    const channels = RULE.channels as readonly { type: 'webhook'; address: string }[];
    evolve(face.control.state, { type: 'AlertAnnounced', number, phase: 'raised', channels, atMs: face.control.nowMs });
  };

  it('POST /v2/alerts makes a rule, with the defaults of its kind', async () => {
    const { rule_id: _, ...shown } = await made({ name: 'Dead letters', kind: 'dead-letters' });
    expect(shown).to.deep.equal({
      name: 'Dead letters',
      kind: 'dead-letters',
      target: '',
      threshold: 1,
      window: 3600,
      channels: [],
      enabled: true,
      silent_until: 0,
      built_in: false,
      state: 'ok',
      firing: 0,
      firing_since: 0,
    });
  });

  it('POST /v2/alerts refuses invalid values, with their field', async () => {
    expect(await refused({ name: '' })).to.match(/^400 name: /);
    expect(await refused({ kind: 'weather' })).to.match(/^400 kind: /);
    expect(await refused({ kind: 'disk', target: '', window: 0 })).to.match(/^400 kind: .* only there$/);
    expect(await refused({ threshold: 501 })).to.equal('400 threshold: must be a whole number from 1 to 500');
    expect(await refused({ window: 0 })).to.match(/^400 window: must be a whole number of seconds from 1 to 604800$/);
    expect(await refused({ kind: 'queue-age', window: 60 })).to.match(/^400 window: .* has none$/);
    expect(await refused({ kind: 'schedule', target: '' })).to.match(/^400 target: .* needs one$/);
    expect(await refused({ channels: [{ type: 'fax', address: '1' }] })).to.match(/^400 channels: must be at most 5/);
    expect(await refused({ channels: [{ type: 'email', address: 'ops' }] })).to.match(/valid e-mail addresses$/);
  });

  it('POST /v2/alerts refuses channels that must not be called, and mails without a mail server', async () => {
    const private_ = [{ type: 'slack', address: 'http://10.0.0.1/x' }];
    expect(await refused({ channels: private_ })).to.equal('400 channels: the address is private');
    face.alerts.hasMail = false;
    expect(await refused({ channels: [{ type: 'email', address: 'ops@example.com' }] })).to.equal(
      '400 channels: no mail server is set (MILLRACE_SMTP_URL)',
    );
  });

  it('PUT /v2/alerts/:id replaces a rule and keeps its silence', async () => {
    const { rule_id: id } = await made();
    await face.ok('POST', `/v2/alerts/${id}/silence`, { body: { seconds: 60 } });
    const { json } = await face.ok('PUT', `/v2/alerts/${id}`, { body: { ...RULE, name: 'Other', enabled: false } });
    expect(json).to.include({ name: 'Other', state: 'off', silent_until: face.control.nowMs / 1000 + 60 });
  });

  it('POST /v2/alerts/:id/silence hides the state until the time is over, and 0 ends it', async () => {
    const { rule_id: id } = await made();
    raise(id);
    const [firing] = await rules();
    expect(firing).to.include({ state: 'firing', firing: 1, firing_since: face.control.nowMs / 1000 });
    const { json } = await face.ok('POST', `/v2/alerts/${id}/silence`, { body: { seconds: 3600 } });
    expect(json).to.include({ state: 'silenced', silent_until: face.control.nowMs / 1000 + 3600 });
    await face.ok('POST', `/v2/alerts/${id}/silence`, { body: { seconds: 0 } });
    expect((await rules())[0]).to.include({ state: 'firing', silent_until: 0 });
    const { status } = await face.call('POST', `/v2/alerts/${id}/silence`, { body: { seconds: 32 * 86_400 } });
    expect(status).to.equal(400);
  });

  it('POST /v2/alerts/:id/test answers with the outcome of every channel', async () => {
    const { rule_id: id } = await made({
      ...RULE,
      channels: [...RULE.channels, { type: 'email', address: 'ops@example.com' }],
    });
    const { json } = await face.ok('POST', `/v2/alerts/${id}/test`);
    expect(json).to.deep.equal([
      { channel: RULE.channels[0], sent: true, answer: 'msg_1' },
      { channel: { type: 'email', address: 'ops@example.com' }, sent: false, answer: 'msg_1' },
    ]);
    expect(face.alerts.tested.map((rule) => rule.id)).to.deep.equal([id]);
  });

  it('GET /v2/alerts/history lists alerts, newest first, with their notices', async () => {
    const { rule_id: id } = await made();
    for (const number of [1, 2, 3]) raise(id, number);
    evolve(face.control.state, { type: 'AlertResolved', number: 3, atMs: face.control.nowMs });
    const { json } = await face.ok('GET', '/v2/alerts/history?count=2');
    expect((json as { alert: number }[]).map(({ alert }) => alert)).to.deep.equal([3, 2]);
    expect((json as object[])[1]).to.deep.include({
      subject: 'pay.example',
      text: '6 attempts failed',
      resolved_at: 0,
      notices: [{ phase: 'raised', channel: RULE.channels[0], state: 'waiting', answer: '' }],
    });
    expect((await face.call('GET', '/v2/alerts/history?count=0')).status).to.equal(400);
  });

  it('has built-in rules for the first account, which cannot be deleted', async () => {
    const { ownerAccount: account, control } = face;
    const database = 'db-none' as never;
    evolve(control.state, { type: 'FirstStarted', account, database, atMs: control.nowMs });
    expect((await rules()).map(({ name, state }) => `${name} ${state}`)).to.deep.equal([
      'Cluster ok',
      'Disk ok',
      'Memory ok',
      'Read models ok',
      'Certificate ok',
    ]);
    const { status, json } = await face.call('DELETE', '/v2/alerts/al-disk');
    expect([status, json]).to.deep.equal([400, { error: 'a built-in rule cannot be deleted: disable it' }]);
    const { caller } = await face.newPerson('ada@example.com');
    expect(await rules(caller)).to.deep.equal([]);
    expect((await face.call('DELETE', '/v2/alerts/al-disk', { as: caller })).status).to.equal(404);
  });

  it('masks the URLs of channels for a read-only key, because they may contain secrets', async () => {
    const { rule_id: id } = await made();
    raise(id);
    const as = await face.readOnlyKey();
    expect((await rules(as))[0]?.channels[0]?.address).to.equal('********');
    expect((await face.ok('GET', '/v2/alerts/history', { as })).text).not.to.include('s3cret');
  });

  it('notes each change in the audit log', async () => {
    const { rule_id: id } = await made();
    await face.ok('PUT', `/v2/alerts/${id}`, { body: { ...RULE, threshold: 9 } });
    await face.ok('POST', `/v2/alerts/${id}/silence`, { body: { seconds: 60 } });
    await face.ok('POST', `/v2/alerts/${id}/test`);
    await face.ok('DELETE', `/v2/alerts/${id}`);
    const { json } = await face.ok('GET', '/v2/auditlogs');
    expect((json as { action_string: string }[]).map(({ action_string }) => action_string)).to.deep.equal([
      'Delete Alert Rule',
      'Test Alert Rule',
      'Silence Alert Rule',
      'Update Alert Rule',
      'Create Alert Rule',
    ]);
  });
});
