/**
 * Alert rules in a real process: its notices reach a webhook, a Slack-compatible URL and a mailbox, once each. The audit log
 * reaches its files and its URL. Proves ALN1, ALN2, AFW1, AF2, AXR1.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Receiver } from '@upstash/qstash';
import { expect } from 'chai';
import { SMTPServer } from 'smtp-server';
import { eventually } from '../../support/eventually.js';
import { WIRE_ALIAS } from '../../support/millrace-clients.js';
import {
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { SIGNING_KEYS } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';

const QUEUE_TOKEN = 'queue-token-of-the-tests-0123456789abcdef';
const MGMT_KEY = 'mgmt-key-of-the-tests-0123456789abcdef';
const PASSWORD = 'mail-password-of-the-tests';

interface Alert {
  readonly alert: number;
  readonly subject: string;
  readonly text: string;
  readonly resolved_at: number;
  readonly notices: readonly { readonly phase: string; readonly state: string; readonly answer: string }[];
}

describe('alert rules and audit log of a running process', () => {
  let sink: QueueSink;
  let smtp: SMTPServer;
  const mails: string[] = [];
  let env: Record<string, string>;
  let auditDir: string;
  let server: MillraceProcess;

  before(async () => {
    sink = await QueueSink.listening();
    smtp = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: ({ username, password }, _session, done) =>
        username === 'ops' && password === PASSWORD
          ? done(null, { user: 'ops' })
          : done(new Error(`no such user or password: ${password}`)),
      onData(stream, _session, done) {
        const pieces: Buffer[] = [];
        stream.on('data', (piece: Buffer) => pieces.push(piece));
        stream.on('end', () => {
          mails.push(Buffer.concat(pieces).toString());
          done();
        });
      },
    });
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
    const address = smtp.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    auditDir = join(await temporaryDirectory(), 'audit');
    env = {
      ...WIRE_ALIAS,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_MGMT_EMAIL: 'ops@example.com',
      MILLRACE_MGMT_KEY: MGMT_KEY,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      MILLRACE_ALERT_LOOK_MS: '200',
      MILLRACE_AUDIT_DIR: auditDir,
      MILLRACE_SMTP_URL: `smtp://ops:${PASSWORD}@127.0.0.1:${port}`,
      MILLRACE_SMTP_FROM: 'Millrace <millrace@example.com>',
    };
    server = await startMillrace({ env });
  });
  after(async () => {
    await endEverything();
    await new Promise<void>((resolve) => smtp.close(() => resolve()));
    await sink.close();
  });

  const manage = async (method: string, path: string, body?: object): Promise<unknown> => {
    const authorization = `Basic ${Buffer.from(`ops@example.com:${MGMT_KEY}`).toString('base64')}`;
    const response = await fetch(`${server.addresses.mgmt}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const failOne = () =>
    fetch(`${server.addresses.queue}/v2/publish/${sink.url('/broken')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'svc-retries': '0' },
    });
  const history = async () => (await manage('GET', '/v2/alerts/history')) as Alert[];

  it('alert rules send one signed webhook, one Slack message and one mail when it fires and when it is over, across a restart', async () => {
    const [hook, slack] = [sink.path('hook'), sink.path('slack')];
    sink.answer('/broken', { status: 500 });
    const channels = [
      { type: 'webhook', address: sink.url(hook) },
      { type: 'slack', address: sink.url(slack) },
      { type: 'email', address: 'anna@example.com' },
    ];
    const rule = { name: 'Dead & gone', kind: 'dead-letters', threshold: 1, window: 6, channels };
    const { rule_id: id } = (await manage('POST', '/v2/alerts', rule)) as { rule_id: string };

    const tested = (await manage('POST', `/v2/alerts/${id}/test`)) as { sent: boolean; answer: string }[];
    expect(tested.map(({ sent }) => sent)).to.deep.equal([true, true, true]);
    expect(tested[2]?.answer).to.match(/^250 /);
    const [test] = await sink.arrived(hook, 1);
    expect(JSON.parse(test?.body ?? '')).to.deep.include({ state: 'test', alert: 0 });

    await failOne();
    const [, raised] = await sink.arrived(hook, 2);
    const body = JSON.parse(raised?.body ?? '') as Record<string, unknown>;
    expect(body).to.deep.include({
      state: 'firing',
      rule: { id, name: 'Dead & gone', kind: 'dead-letters' },
      subject: 'dead letters',
      text: '1 message reached the DLQ within 6 seconds',
      url: `${server.addresses.mgmt}/console/alerts`,
    });
    const receiver = new Receiver({ currentSigningKey: SIGNING_KEYS.current, nextSigningKey: SIGNING_KEYS.next });
    const signature = raised?.headers['upstash-signature'] as string;
    expect(await receiver.verify({ signature, body: raised?.body ?? '', url: sink.url(hook) })).to.equal(true);
    const [, said] = await sink.arrived(slack, 2);
    expect(JSON.parse(said?.body ?? ''))
      .to.have.property('text')
      .that.includes('*[firing] Dead &amp; gone: dead letters*');

    await eventually(async () => {
      const [alert] = await history();
      expect(alert?.notices.map(({ state }) => state)).to.deep.equal(['sent', 'sent', 'sent']);
    });
    await server.kill('SIGKILL');
    server = await startMillrace({ dataDir: server.dataDir, env });
    await sink.arrived(hook, 3);
    await eventually(async () => {
      const alerts = await history();
      expect(alerts, JSON.stringify(alerts)).to.have.lengthOf(1);
      expect(alerts[0]?.resolved_at).to.be.greaterThan(0);
      expect(alerts[0]?.notices.map(({ phase, state }) => `${phase} ${state}`)).to.deep.equal([
        ...['raised sent', 'raised sent', 'raised sent'],
        ...['resolved sent', 'resolved sent', 'resolved sent'],
      ]);
    });
    const bodies = (await sink.arrived(hook, 3)).map((call) => (JSON.parse(call.body) as { state: string }).state);
    expect(bodies).to.deep.equal(['test', 'firing', 'resolved']);
    const subjects = mails.map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]?.trim());
    expect(subjects).to.deep.equal([
      '[test] Dead & gone: test',
      '[firing] Dead & gone: dead letters',
      '[resolved] Dead & gone: dead letters',
    ]);
    expect(mails[1])
      .to.match(/^From: Millrace <millrace@example.com>/m)
      .and.match(/^To: anna@example.com/m);
    expect(server.stdout() + server.stderr()).not.to.include(PASSWORD);
  });

  it('a customer with an email gets one mail when his endpoint is disabled, through the queue, also after a kill -9', async () => {
    const path = sink.path('customer');
    const ask = async (at: string, body: object) => {
      const headers = { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'application/json' };
      const answer = await fetch(`${server.addresses.queue}${at}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      expect(answer.status, at).to.equal(200);
      return (await answer.json()) as { id: string };
    };
    await ask('/v2/destinations/rules', {});
    const { id: app } = await ask('/v2/apps', { name: 'Customer & Co', email: 'customer@example.com' });
    const { id: endpoint } = await ask(`/v2/apps/${app}/endpoints`, { url: sink.url(`${path}/secret?key=secret`) });
    await ask('/v2/event-types', { name: 'a.b' });
    sink.answer(`${path}/secret`, { status: 410 });
    await ask(`/v2/apps/${app}/messages`, { eventType: 'a.b', payload: {} });
    const ofCustomer = () => mails.filter((mail) => mail.includes('To: customer@example.com'));
    const [mail = ''] = await eventually(() => {
      expect(ofCustomer()).to.have.lengthOf(1);
      return ofCustomer();
    });
    const { host } = new URL(sink.url('/'));
    expect(mail).to.match(/^From: Millrace <millrace@example.com>/m);
    expect(mail).to.include(`Subject: Webhook endpoint disabled: ${host}`);
    expect(mail).to.include('Customer: Customer & Co').and.include(`Endpoint: ${endpoint}`);
    expect(mail).not.to.include('secret');
    await server.kill('SIGKILL');
    server = await startMillrace({ dataDir: server.dataDir, env });
    const logged = async () => {
      const headers = { authorization: `Bearer ${QUEUE_TOKEN}` };
      const answer = await fetch(`${server.addresses.queue}/v2/logs?url=mailto:customer@example.com`, { headers });
      return ((await answer.json()) as { events: { state: string }[] }).events.map(({ state }) => state);
    };
    await eventually(async () => expect(await logged()).to.include('DELIVERED'));
    const ids = new Set(ofCustomer().map((one) => /^Message-ID: (.*)$/m.exec(one)?.[1]));
    expect(ids).to.have.property('size', 1);
  });

  it('the audit log is complete in its files and at its URL, in order, after a kill -9 between two lines', async () => {
    const path = sink.path('audit');
    await manage('POST', '/v2/auditlogs/export', { url: sink.url(path) });
    const change = async (name: string) =>
      manage('POST', '/v2/alerts', { name, kind: 'dead-letters', threshold: 1000 });
    for (let at = 0; at < 5; at += 1) await change(`before ${at}`);
    const cutOff = Promise.allSettled(Array.from({ length: 20 }, (_, at) => change(`during ${at}`)));
    await eventually(async () => expect((await writtenNotes()).join()).to.include('during'));
    await server.kill('SIGKILL');
    await cutOff;
    server = await startMillrace({ dataDir: server.dataDir, env });
    await change('after');
    const log = (await manage('GET', '/v2/auditlogs')) as { log_id: string; action_string: string }[];
    const notes = log.map(({ log_id }) => log_id).reverse();
    await eventually(async () => {
      const written = (await writtenNotes()).map((line) => (JSON.parse(line) as { log_id: string }).log_id);
      expect(written).to.deep.equal(notes);
    });
    const exported = log.findIndex(({ action_string }) => action_string === 'Set Audit Export');
    await eventually(() => {
      // A message that was being delivered at the kill arrives again.
      const lines = sink.calls(path).flatMap(({ body }) => body.split('\n').slice(0, -1));
      const received = new Set(lines.map((line) => (JSON.parse(line) as { log_id: string }).log_id));
      expect([...received]).to.deep.equal(notes.slice(-exported - 1));
    });
    await eventually(async () => {
      const shown = await manage('GET', '/v2/auditlogs/export');
      expect(shown).to.include({ url: sink.url(path), lag_seconds: 0, undelivered_seconds: 0 });
      expect(shown).to.not.have.property('problem');
    });
  });

  it('a second installation leaves the files of the audit log alone while the first one has them', async () => {
    const before = await writtenNotes();
    const other = await startMillrace({ env });
    await eventually(() => expect(other.stderr()).to.include(`${auditDir} is in use by process `));
    await manage('POST', '/v2/alerts', { name: 'written', kind: 'dead-letters', threshold: 1000 });
    await eventually(async () => expect(await writtenNotes()).to.have.lengthOf(before.length + 1));
    await other.kill('SIGKILL');
    expect((await writtenNotes()).slice(0, -1)).to.deep.equal(before);
  });

  it('millrace audit-export sets the address, shows its last error, and ends the export', async () => {
    const path = sink.path('refusing');
    sink.answer(path, { status: 500 });
    const access = {
      MILLRACE_MGMT_URL: server.addresses.mgmt as string,
      MILLRACE_MGMT_EMAIL: 'ops@example.com',
      MILLRACE_MGMT_KEY: MGMT_KEY,
    };
    const cli = async (...words: string[]) => {
      const { code, stdout, stderr } = await runMillrace(['audit-export', ...words], access);
      expect(code, stderr).to.equal(0);
      return stdout.toString();
    };
    expect(await cli(sink.url(path))).to.match(/^address +http.*\naccepted up to position +\d+\n/);
    // For a second after the change, notes may still be sent to the earlier address.
    await eventually(async () => {
      await manage('POST', '/v2/auditlogs/export', { url: sink.url(path) });
      expect(sink.calls(path)).to.have.length.of.at.least(1);
    });
    await eventually(async () => expect(await manage('GET', '/v2/auditlogs/export')).to.have.property('problem'));
    expect(await cli()).to.match(/^last error +.*500/m);
    expect(await cli('--remove')).to.equal('the audit log is no longer exported\n');
    expect(await manage('GET', '/v2/auditlogs/export')).to.include({ url: '' });
  });

  async function writtenNotes(): Promise<string[]> {
    const names = (await readdir(auditDir)).filter((name) => name.endsWith('.jsonl')).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(auditDir, name), 'utf8')));
    return texts.join('').split('\n').slice(0, -1);
  }
});
