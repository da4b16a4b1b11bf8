/** `millrace get`, `publish`, `dlq`, `runs`, `logs` and the like, on a real process with a real receiver. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  runMillrace,
  startMillrace,
  temporaryDirectory,
  watchMillrace,
} from '../../support/millrace-process.js';

describe('millrace: the commands for keys, messages and runs', function () {
  this.timeout(120_000);
  let env: Environment;
  let receiver: Server;
  let mayAnswer = false;
  const received: string[] = [];

  before(async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    env = { ...(await embeddedEnvironment(dataDir)), MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true' };
    await startMillrace({ dataDir, env });
    receiver = createServer(async (request, response) => {
      let body = '';
      for await (const piece of request) body += String(piece);
      received.push(`${request.method} ${request.url} ${request.headers['x-kind'] ?? ''} ${body}`);
      // The endpoint of a run that has not ended.
      if (request.url === '/flow') return;
      response.writeHead(request.url === '/broken' && !mayAnswer ? 500 : 200).end();
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  });
  after(async () => {
    receiver.closeAllConnections();
    receiver.close();
    await endEverything();
  });

  const sink = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

  async function run(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await runMillrace(words, env);
    expect([code, stderr], words.join(' ')).to.deep.equal([0, '']);
    return stdout.toString();
  }

  it('set, get, keys and call read and write keys', async () => {
    expect(await run('set', 'user:1', 'Ada', '--ttl', '60')).to.equal('OK\n');
    expect(await run('get', 'user:1')).to.equal('Ada\n');
    expect(await run('get', 'user:1', '--json')).to.equal('"Ada"\n');
    expect(JSON.parse(await run('call', 'TTL', 'user:1'))).to.be.within(1, 60);
    await run('call', 'MSET', 'user:2', 'Bob', 'other', 'x');
    expect((await run('keys', 'user:*')).trim().split('\n').sort()).to.deep.equal(['user:1', 'user:2']);
    expect((await run('keys', '--count', '2')).trim().split('\n')).to.have.length(2);
    const { code, stderr } = await runMillrace(['get', 'absent'], env);
    expect([code, stderr]).to.deep.equal([1, 'millrace: there is no key absent\n']);
  });

  it('publish sends a message with headers and its fate at a stopped destination, and messages lists a delayed one', async () => {
    expect(await run('publish', `${sink()}/order`, 'one', '--header', 'Svc-Forward-X-Kind: book')).to.match(
      /^msg_\S+\n$/,
    );
    await eventually(() => expect(received).to.include('POST /order book one'));
    const id = (await run('publish', `${sink()}/later`, 'x', '--delay', '1h', '--when-stopped', 'dlq')).trim();
    expect(await run('messages')).to.match(new RegExp(`^ID +STATE.*\n${id} +SCHEDULED +0/3 +\\S+ +${sink()}/later\n$`));
    expect(JSON.parse(await run('messages', '--json'))).to.include({ messageId: id, whenStopped: 'dlq' });
    const { code, stderr } = await runMillrace(['publish', sink(), 'x', '--header', 'wrong'], env);
    expect([code, stderr]).to.deep.equal([1, 'millrace: --header has the form "Name: value", not "wrong"\n']);
  });

  it('dlq list shows a message that could not be delivered, and dlq retry sends it again', async () => {
    await run('publish', `${sink()}/broken`, 'x', '--retries', '0');
    const [entry] = await eventually(async () => {
      const lines = (await run('dlq', 'list', '--json')).trim().split('\n');
      expect(lines.join('')).to.contain('/broken');
      return lines.map((line) => JSON.parse(line) as { dlqId: string });
    });
    mayAnswer = true;
    expect(await run('dlq', 'retry', entry?.dlqId as string)).to.match(/^msg_\S+\n$/);
    await eventually(async () => expect(await run('dlq', 'list', '--json')).to.equal(''));
    expect(received.filter((line) => line.includes('/broken'))).to.have.length(2);
    expect(await run('dlq', 'retry', '--all')).to.equal('');
  });

  it('logs --follow prints new events, each once', async () => {
    const following = watchMillrace(['logs', '--follow', '--count', '1'], env);
    await eventually(() => expect(following.lines).to.have.length.at.least(1));
    const id = (await run('publish', `${sink()}/followed`, 'x')).trim();
    await eventually(() => expect(following.lines.join('\n')).to.match(new RegExp(`DELIVERED +${id}`)));
    const states = following.lines.filter((line) => line.includes(id)).map((line) => line.split(/ +/)[1]);
    expect(states).to.deep.equal([...new Set(states)]);
    await following.stop('SIGINT');
  });

  it('runs trigger starts a run, runs list and runs show print it, runs cancel ends it, runs rerun starts it again, and workflows check checks it', async () => {
    const id = (await run('runs', 'trigger', `${sink()}/flow`, '{"order":1}')).trim();
    expect(id).to.match(/^wfr_/);
    await eventually(async () => expect(await run('runs', 'list')).to.contain(id));
    expect(await run('runs', 'show', id)).to.match(new RegExp(`^workflowRunId=${id}\n[^]*STEP +NAME[^]*init`));
    expect(await run('runs', 'cancel', id)).to.equal(`${id} cancelled\n`);
    await eventually(async () => expect(await run('runs', 'show', id)).to.contain('RUN_CANCELED'));
    const { code, stderr } = await runMillrace(['runs', 'rerun', 'wfr_absent'], env);
    expect([code, stderr]).to.deep.equal([
      1,
      'millrace runs: POST /v2/workflows/runs/wfr_absent/rerun: 404 {"error":"workflowRun wfr_absent not found"}\n',
    ]);
    const again = (await run('runs', 'rerun', id, '--input', '{"order":2}')).trim();
    expect(await run('runs', 'show', again)).to.match(/RUN_STARTED[\s\S]*"order":2/);
    // workflows check: it fails unless all runs are compatible, and the receiver answers, but is no endpoint of workflows.
    const checked = await runMillrace(['workflows', 'check', '--url', `${sink()}/checked`, '--runs', again], env);
    const problem = `millrace workflows: 1 of 1 runs are not compatible with ${sink()}/checked\n`;
    expect([checked.code, checked.stderr]).to.deep.equal([1, problem]);
    expect(checked.stdout.toString()).to.match(
      /^RUN .*\nwfr_\S+ +RUN_STARTED +unknown .* no request[\s\S]*\n0 of 1 runs/,
    );
    await run('runs', 'cancel', again);
  });

  it('schedule sets a schedule, and schedules lists schedules with their next time', async () => {
    const words = ['schedule', `${sink()}/tick`, 'tock', '--cron', '0 8 * * 1', '--id', 'monday'];
    expect(await run(...words)).to.equal('monday\n');
    expect(await run('schedules')).to.match(/^ID.*\nmonday +0 8 \* \* 1 +active +\S+ +http/);
    const { code, stderr } = await runMillrace(['schedule', `${sink()}/tick`, '--cron', 'daily'], env);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^millrace: POST \/v2\/schedules\/http.*: 400 .*cron/i);
  });

  it('without a word millrace prints what runs, and its commands in groups', async () => {
    const text = await run();
    expect(text).to.match(/^a process runs in \S+: kv=\S+ .*\nconsole http:\S+\/console\n/);
    expect(text).to.match(/run a process:\n {2}serve.*keys:\n {2}get.*messages and workflows:\n {2}publish/s);
  });

  it('apps create, list, endpoints, send, portal, revoke, enable and delete an application', async () => {
    const id = (await run('apps', 'create', 'Customer Ltd', '--uid', 'customer-17')).trim();
    expect(await run('apps', 'list', '--search', 'customer')).to.match(
      new RegExp(`^ID +UID +NAME +ENDPOINTS\n${id} +customer-17 +Customer Ltd +0\n$`),
    );
    expect(await run('apps', 'endpoints', 'customer-17')).to.equal('ID  STATE  TYPES  URL\n');
    const { code, stderr } = await runMillrace(['apps', 'send', id, 'order.paid', '{"total":1}'], env);
    expect(code).to.equal(1);
    expect(stderr).to.contain('there is no event type order.paid');
    expect(await run('apps', 'portal', id, '--read-only', '--expires-in', '5m')).to.match(
      new RegExp(`/portal/${id}#mpt_[A-Za-z0-9._-]+\n$`),
    );
    expect(await run('apps', 'revoke', id)).to.equal('all links revoked\n');
    expect(await run('apps', 'revoke', id, '--link', 'plk_aaaabbbbcccc')).to.equal('link revoked\n');
    const absent = await runMillrace(['apps', 'enable', id, 'ep_absent', '--replay'], env);
    expect(absent.stderr).to.include('404 {"error":"endpoint ep_absent not found"}');
    expect(await run('apps', 'delete', id)).to.equal(`${id} deleted\n`);
  });

  it('triggers create, list, show, feed, pause, skip, resume and delete a trigger', async () => {
    const words = ['--pattern', 'cli:*', '--events', 'set,del', '--name', 'cli', '--options', 'Svc-Retries: 1'];
    const id = (await run('triggers', 'create', `${sink()}/changed`, ...words)).trim();
    await run('set', 'cli:1', 'a');
    await eventually(() => expect(received.some((line) => line.startsWith('POST /changed'))).to.equal(true));
    expect(await run('triggers', 'list'))
      .to.contain(id)
      .and.to.contain('active');
    expect(await run('triggers', 'show', id)).to.contain('options={"Svc-Retries":"1"}');
    const [record = '{}'] = (await run('triggers', 'feed', id)).split('\n');
    expect(JSON.parse(record)).to.include({ trigger: id, key: 'cli:1', event: 'set' });
    expect(await run('triggers', 'pause', id)).to.equal(`${id} paused\n`);
    expect(await run('triggers', 'skip', id)).to.equal(`${id} paused\n`);
    expect(await run('triggers', 'resume', id)).to.equal(`${id} active\n`);
    expect(await run('triggers', 'delete', id)).to.equal(`${id} deleted\n`);
  });
});
