/** `millrace db` as operators use it to create, limit, reset and delete databases, and the effect on clients. */
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { decodeMeterRecord } from '../../../src/codec/control/index.js';
import { credentialsIn, todayIn } from '../../support/db-output-reader.js';
import { withEmbeddedNats } from '../../support/embedded-nats.js';
import { eventually } from '../../support/eventually.js';
import { describeOutcome, KvClient } from '../../support/kv-client.js';
import {
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  PASSWORD,
  READONLY_TOKEN,
  runMillrace,
  startMillrace,
  TOKEN,
  temporaryDirectory,
} from '../../support/millrace-process.js';

describe('millrace db', function () {
  this.timeout(90_000);
  let millrace: MillraceProcess;
  const clients: KvClient[] = [];

  before(async () => {
    millrace = await startMillrace();
  });
  after(async () => {
    for (const client of clients) client.close();
    await endEverything();
  });

  const db = async (...args: string[]) => {
    const environment = await embeddedEnvironment(millrace.dataDir);
    const { code, stdout, stderr } = await runMillrace(['db', ...args], environment);
    return { code, text: stdout.toString(), stderr };
  };
  const client = (token: string): KvClient => {
    const kv = new KvClient({ url: millrace.kvUrl, token });
    clients.push(kv);
    return kv;
  };
  const created = async (name: string, ...options: string[]) => {
    const { code, text, stderr } = await db('create', '--name', name, ...options);
    expect(code, stderr).to.equal(0);
    const { id, token, readOnlyToken, password } = credentialsIn(text);
    const kv = client(token);
    await eventually(() => kv.ask('PING'));
    return { id, token, readOnlyToken, password, kv };
  };

  it('create makes a database that is separate from all others', async () => {
    const { kv, readOnlyToken } = await created('apart');
    await kv.ask('SET', 'where', 'apart');
    await millrace.kv.ask('SET', 'where', 'first');
    expect(await kv.ask('GET', 'where')).to.equal('apart');
    expect(await millrace.kv.ask('GET', 'where')).to.equal('first');
    expect(await client(readOnlyToken).ask('GET', 'where')).to.equal('apart');
    expect((await db('list')).text)
      .to.match(/\bapart\b/)
      .and.to.match(/\bdefault\b/);
    expect((await db('create', '--name', 'apart')).code).to.equal(1);
  });

  it('list shows secrets only with --show-secrets', async () => {
    const { token } = await created('secretive');
    expect((await db('list')).text).not.to.contain(token);
    expect((await db('list', '--show-secrets')).text).to.contain(token);
  });

  it('--max-command-bytes limits the size of a command', async () => {
    const { kv, id } = await created('small', '--max-command-bytes', '2000');
    expect((await kv.command('SET', 'k', 'x'.repeat(1900))).kind).to.equal('done');
    const refused = await kv.command('SET', 'k', 'x'.repeat(2100));
    expect(describeOutcome(refused)).to.match(/max request size exceeded\. Limit: 2000 bytes/);
    expect((await millrace.kv.command('SET', 'k', 'x'.repeat(2100))).kind).to.equal('done');
    expect((await db('limits', id, '--max-command-bytes', '4000')).code).to.equal(0);
    await eventually(async () => expect((await kv.command('SET', 'k', 'x'.repeat(2100))).kind).to.equal('done'));
  });

  it('--max-command-bytes limits the length of a string, and the error for a longer one names GETRANGE', async () => {
    const { kv, id } = await created('ranges', '--max-command-bytes', '2000');
    await kv.ask('SET', 'k', 'x'.repeat(1900));
    expect(await kv.ask('APPEND', 'k', 'y'.repeat(100))).to.equal(2000);
    expect(describeOutcome(await kv.command('APPEND', 'k', 'z'))).to.match(/maximum allowed size\. Limit: 2000 bytes/);
    expect((await db('limits', id, '--max-command-bytes', '1500')).code).to.equal(0);
    await eventually(async () =>
      expect(describeOutcome(await kv.command('GET', 'k'))).to.match(/Limit: 1500 bytes.* GETRANGE reads it in parts/),
    );
    expect(await kv.ask('GETRANGE', 'k', '1899', '1901')).to.equal('xyy');
  });

  it('--max-requests-per-day admits exactly that many requests', async () => {
    const { kv } = await created('daily', '--max-requests-per-day', '40');
    // Each wait for the database to be known took one.
    let done = 0;
    for (let request = 0; request < 60; request += 1) {
      const outcome = await kv.command('INCR', 'n');
      if (outcome.kind === 'done') done = Number(outcome.result);
      else expect(describeOutcome(outcome)).to.contain('max daily request limit exceeded');
    }
    expect(done).to.be.within(35, 39);
    expect((await millrace.kv.command('PING')).kind).to.equal('done');
  });

  it('reset-password makes both tokens and the password invalid immediately', async () => {
    const { id, token, readOnlyToken } = await created('reset-me');
    await client(token).ask('SET', 'kept', 'yes');
    const { code, text } = await db('reset-password', id);
    expect(code).to.equal(0);
    for (const old of [token, readOnlyToken]) {
      expect(describeOutcome(await client(old).command('GET', 'kept'))).to.contain('refused with 401');
    }
    const renewed = credentialsIn(text);
    expect([token, readOnlyToken]).not.to.include(renewed.token);
    expect(await client(renewed.token).ask('GET', 'kept')).to.equal('yes');
    expect(await client(renewed.readOnlyToken).ask('GET', 'kept')).to.equal('yes');
  });

  it('delete removes a database with its data, only with --yes', async () => {
    const { id, kv } = await created('doomed');
    await kv.ask('SET', 'k', 'v');
    expect((await db('delete', id)).code).to.equal(2);
    expect(await kv.ask('GET', 'k')).to.equal('v');
    expect((await db('delete', id, '--yes')).code).to.equal(0);
    expect(describeOutcome(await kv.command('GET', 'k'))).to.contain('refused with 401');
    expect((await db('list')).text).not.to.contain(id);
  });

  it('an unknown database is reported in one line', async () => {
    const { code, stderr } = await db('reset-password', 'nobody');
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.length(1);
  });

  it('create --partitions 4 makes a database that refuses commands across partitions', async () => {
    const { kv } = await created('wide', '--partitions', '4');
    for (let at = 0; at < 40; at += 1) await kv.ask('SET', `key:${at}`, at);
    expect(await kv.ask('DBSIZE')).to.equal(40);
    expect(describeOutcome(await kv.command('MGET', 'key:1', 'key:2'))).to.contain('CROSSSLOT');
    expect(await kv.ask('MSET', '{a}1', 'x', '{a}2', 'y')).to.equal('OK');
  });

  it('an index of a database of several partitions has the documents of all of them', async () => {
    const { kv } = await created('searched', '--partitions', '4');
    const schema = ['SCHEMA', 'text', 'TEXT', 'n', 'I64', 'FAST'];
    expect(await kv.ask('SEARCH.CREATE', 'notes', 'ON', 'HASH', 'PREFIX', '1', 'note:', ...schema)).to.equal(1);
    for (let at = 0; at < 20; at += 1) await kv.ask('HSET', `note:${at}`, 'text', `red ${at}`, 'n', at);
    expect(await kv.ask('SEARCH.WAITINDEXING', 'notes')).to.equal(1);
    expect(await kv.ask('SEARCH.COUNT', 'notes', '{"text":"red"}')).to.equal(20);
    const page = ['ORDERBY', 'n', 'ASC', 'OFFSET', '5', 'LIMIT', '2', 'SELECT', '1', 'text'];
    expect(await kv.ask('SEARCH.QUERY', 'notes', '{}', ...page)).to.deep.equal([
      ['note:5', 5, [['text', 'red 5']]],
      ['note:6', 6, [['text', 'red 6']]],
    ]);
    const aggregated = await kv.ask('SEARCH.AGGREGATE', 'notes', '{}', '{"mean":{"$avg":{"field":"n"}}}');
    expect(aggregated).to.deep.equal(['mean', ['value', '9.5']]);
    expect(await kv.ask('SEARCH.DROP', 'notes')).to.equal(1);
    expect(await kv.ask('SEARCH.COUNT', 'notes', '{}')).to.equal(-1);
  });

  it('scripts of a database of several partitions are refused keys in another partition', async () => {
    const { kv } = await created('scripted', '--partitions', '4');
    const writes = "return redis.call('SET', ARGV[1], 'v')";
    const outcomes: string[] = [];
    for (let at = 0; at < 8; at += 1) {
      const name = `undeclared:${at}`;
      const said = describeOutcome(await kv.command('EVAL', writes, '1', 'here', name));
      const isRefused = said.includes('ERR Script attempted to access a non local key in a cluster node');
      // An acknowledged write can be read, and a refused one is not stored.
      expect(await kv.ask('GET', name), said).to.equal(isRefused ? null : 'v');
      outcomes.push(isRefused ? 'refused' : 'written');
    }
    expect(outcomes).to.include.members(['refused', 'written']);
    const reads = "return redis.pcall('GET', 'undeclared:0') and redis.call('GET', KEYS[1] .. '2')";
    expect(await kv.ask('EVAL', reads, '1', '{here}')).to.equal(null);
    expect(await kv.ask('DBSIZE')).to.equal(outcomes.filter((one) => one === 'written').length);
    const inTransaction = await kv.transaction([
      ['EVAL', writes, '1', 'here', 'undeclared:0'],
      ['EVAL', writes, '1', 'here', 'undeclared:1'],
    ]);
    expect(describeOutcome(inTransaction)).to.include('non local key');
  });

  it('list counts requests also after a kill of the process', async () => {
    const dataDir = await temporaryDirectory();
    let counted = await startMillrace({ dataDir });
    const environment = await embeddedEnvironment(dataDir);
    const commands = Array.from({ length: 250 }, () => ['GET', 'k']);
    expect((await counted.kv.pipeline(commands)).kind).to.equal('done');
    await eventually(async () => expect(await meteredCommands(dataDir)).to.be.at.least(250), { timeoutMs: 30_000 });
    await counted.kill();
    counted = await startMillrace({ dataDir });
    await eventually(
      async () => {
        const { stdout } = await runMillrace(['db', 'list'], environment);
        expect(todayIn(stdout.toString(), 'default')).to.be.at.least(250);
      },
      { timeoutMs: 20_000, everyMs: 500 },
    );
  });

  it('list shows the credentials of the first start', async () => {
    const { text } = await db('list', '--show-secrets');
    for (const secret of [TOKEN, READONLY_TOKEN, PASSWORD]) expect(text).to.contain(secret);
  });
});

/** The commands of all records in the meter's log so far. */
function meteredCommands(dataDir: string): Promise<number> {
  return withEmbeddedNats(dataDir, async (nats) => {
    const { streams } = await jetstreamManager(nats);
    const { last_seq: last } = (await streams.info('METER')).state;
    let commands = 0;
    for (let seq = 1; seq <= last; seq += 1) {
      const message = await streams.getMessage('METER', { seq });
      for (const row of message === null ? [] : decodeMeterRecord(message.data).rows) commands += row.commands;
    }
    return commands;
  });
}
