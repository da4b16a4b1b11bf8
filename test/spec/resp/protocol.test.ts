/** Proves RCO1–RCO4, RSE1–RSE3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { allCommands } from '../../../src/domain/kv/index.js';
import { CONNECTION_COMMANDS, createRespServer } from '../../../src/edge/index.js';
import { type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { OTHER_PASSWORD, PASSWORD, RespFaceHarness, WIDE_PASSWORD } from '../../support/resp-face.js';

describe('native protocol: connections', () => {
  let face: RespFaceHarness;
  beforeEach(async () => {
    face = await new RespFaceHarness().start();
  });
  afterEach(() => face.stop());

  it('has an answer of its own for every command about the connection', () => {
    const rows = allCommands().filter(({ flags }) => flags.includes('connection'));
    expect(rows.map(({ name }) => name).filter((name) => !CONNECTION_COMMANDS.has(name))).to.deep.equal([]);
    expect(typeof createRespServer).to.equal('function');
  });

  it('tells who is connected to a database, and nobody of another', async () => {
    const client = await face.client();
    await face.client(2, OTHER_PASSWORD);
    client.send(encodeCommand(['CLIENT', 'SETNAME', 'worker']));
    expect(await client.next()).to.equal('+OK\r\n');
    const clients = [...face.server.clientsOf('db-first' as DatabaseId)];
    expect(clients).to.have.length(1);
    expect(clients[0]).to.include({ name: 'worker', db: 0, user: 'default', cmd: 'client|setname' });
    expect(clients[0]?.addr).to.match(/^127\.0\.0\.1:\d+$/);
    expect([...face.server.clientsOf('db-none' as DatabaseId)]).to.deep.equal([]);
  });

  it('answers pipelined commands in order, and asks the partition once for those that arrive together', async () => {
    const client = await face.client();
    face.owner.requests.length = 0;
    client.send(
      ['SET a 1', 'INCR a', 'PING', 'GET a', 'FOO', 'GET b'].map((l) => encodeCommand(l.split(' '))).join(''),
    );
    const answers = [];
    for (let i = 0; i < 6; i += 1) answers.push(await client.next());
    expect(answers).to.deep.equal([
      '+OK\r\n',
      ':2\r\n',
      '+PONG\r\n',
      '$1\r\n2\r\n',
      "-ERR unknown command 'FOO', with args beginning with: \r\n",
      '$-1\r\n',
    ]);
    expect(face.owner.requests.map(({ mode, commands }) => [mode, commands.length])).to.deep.equal([['pipeline', 4]]);
  });

  it('keeps thousands of pipelined commands in order, in bounded requests', async () => {
    const client = await face.client();
    const count = 5_000;
    client.send(Array.from({ length: count }, () => encodeCommand(['INCR', 'n'])).join(''));
    for (let i = 1; i <= count; i += 1) expect(await client.next()).to.equal(`:${i}\r\n`);
    expect(Math.max(...face.owner.requests.map(({ commands }) => commands.length))).to.be.at.most(1_000);
  });

  it('has one request of a connection under way at a time', async () => {
    const client = await face.client();
    let open = () => {};
    face.owner.gate = new Promise((resolve) => (open = resolve));
    face.owner.requests.length = 0;
    client.send(encodeCommand(['SET', 'a', '1']));
    await eventually(() => expect(face.owner.requests).to.have.length(1));
    client.send(encodeCommand(['GET', 'a']) + encodeCommand(['GET', 'a']));
    const other = await face.client();
    expect(await other.call('PING')).to.equal('+PONG\r\n');
    expect(face.owner.requests).to.have.length(1);
    open();
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      '+OK\r\n',
      '$1\r\n1\r\n',
      '$1\r\n1\r\n',
    ]);
  });

  it('takes commands typed by hand', async () => {
    const client = await face.connect();
    client.send(`AUTH ${PASSWORD}\r\nSET k "a b\\x41"\r\nGET k\n\r\nECHO 'x'\r\n`);
    expect([await client.next(), await client.next(), await client.next(), await client.next()]).to.deep.equal([
      '+OK\r\n',
      '+OK\r\n',
      '$4\r\na bA\r\n',
      '$1\r\nx\r\n',
    ]);
  });

  it('answers what came before bytes that are no commands, says so, and closes', async () => {
    const client = await face.client();
    client.send(`${encodeCommand(['SET', 'a', '1'])}${encodeCommand(['PING'])}*1\r\n+x\r\nPING\r\n`);
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      '+OK\r\n',
      '+PONG\r\n',
      "-ERR Protocol error: expected '$', got '+'\r\n",
    ]);
    await client.closed();
    expect(client.unread).to.deep.equal([]);
  });

  it('answers a client that has nothing more to say, then closes', async () => {
    const client = await face.client();
    client.socket.end(encodeCommand(['SET', 'a', '1']) + encodeCommand(['GET', 'a']), 'latin1');
    expect([await client.next(), await client.next()]).to.deep.equal(['+OK\r\n', '$1\r\n1\r\n']);
    await client.closed();
  });

  it('says QUIT and RESET as Redis does', async () => {
    const client = await face.client(3);
    await client.call('CLIENT', 'SETNAME', 'me');
    await client.call('MULTI');
    expect(await client.call('RESET')).to.equal('+RESET\r\n');
    expect(await client.call('GET', 'a')).to.equal('-NOAUTH Authentication required.\r\n');
    await client.call('AUTH', PASSWORD);
    expect(await client.call('CLIENT', 'GETNAME')).to.equal('$-1\r\n');
    client.send('QUIT\r\nPING\r\n');
    expect(await client.next()).to.equal('+OK\r\n');
    await client.closed();
    expect(client.unread).to.deep.equal([]);
  });

  it('sends large replies whole, without keeping others waiting', async () => {
    const client = await face.client();
    const other = await face.client();
    const count = 60_000;
    const keys = Array.from({ length: count }, (_, i) => `k${i}`);
    await client.call('MSET', ...keys.flatMap((key) => [key, 'v'.repeat(20)]));
    client.send(encodeCommand(['MGET', ...keys]) + encodeCommand(['PING']));
    const pong = other.call('PING');
    const reply = await client.next();
    expect(await client.next()).to.equal('+PONG\r\n');
    expect(await pong).to.equal('+PONG\r\n');
    expect(reply).to.equal(`*${count}\r\n${`$20\r\n${'v'.repeat(20)}\r\n`.repeat(count)}`);
  });

  it('refuses a command that is too large and goes on', async () => {
    face.maxCommandBytes = 1_000;
    const client = await face.client();
    const problem = '-ERR max request size exceeded. Limit: 1000 bytes, Actual: 1001 bytes\r\n';
    expect(await client.call('SET', 'k', 'v'.repeat(997))).to.equal(problem);
    expect(await client.call('SET', 'k', 'v'.repeat(996))).to.equal('+OK\r\n');
  });

  it('takes one command as large as docs/guide/connecting.md says, and nothing larger', async () => {
    const client = await face.client();
    const fits = 'v'.repeat(10 * 1024 * 1024 - 'SETk'.length);
    expect(await client.call('SET', 'k', fits)).to.equal('+OK\r\n');
    expect(await client.call('SET', 'k', `${fits}v`)).to.match(
      /^-ERR max request size exceeded. Limit: 10485760 bytes/,
    );
    const words = Array.from({ length: 1_048_576 - 1 }, () => 'w');
    client.send(encodeCommand(['ECHO', ...words]));
    expect(await client.next()).to.equal("-ERR wrong number of arguments for 'echo' command\r\n");
    expect(await client.call('STRLEN', 'k')).to.equal(`:${fits.length}\r\n`);
    client.send(encodeCommand(['ECHO', ...words, 'w']));
    expect(await client.next()).to.equal('-ERR Protocol error: invalid multibulk length\r\n');
    await client.closed();
  });

  it('refuses a key that is too large', async () => {
    const client = await face.client();
    expect(await client.call('SET', 'k'.repeat(1024 * 1024), 'v')).to.equal('+OK\r\n');
    expect(await client.call('SET', 'k'.repeat(1024 * 1024 + 1), 'v')).to.match(/^-ERR max key size exceeded/);
  });

  it('answers BUSY for a database that has been busy for longer than a request waits, to each of a transaction as well', async () => {
    const client = await face.client();
    face.owner.failures.push(new MillraceError('TENANT_BUSY', 'a script'));
    expect(await client.call('GET', 'k')).to.match(/^-BUSY this database is busy running a script or a long command/);
    expect(await client.call('GET', 'k')).to.equal('$-1\r\n');
    await client.call('MULTI');
    await client.call('SET', 'k', '1');
    face.owner.failures.push(new MillraceError('TENANT_BUSY', 'a script'));
    expect(await client.call('EXEC')).to.match(/^-BUSY /);
  });

  it('answers what the world did, to each command it did it to', async () => {
    const client = await face.client();
    face.owner.failures.push(new MillraceError('OUTCOME_UNKNOWN', 'who knows'));
    client.send(encodeCommand(['SET', 'a', '1']) + encodeCommand(['PING']) + encodeCommand(['SET', 'b', '1']));
    const unknown = '-ERR the command may or may not have been executed, outcome=unknown\r\n';
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      unknown,
      '+PONG\r\n',
      unknown,
    ]);
    face.owner.failures.push(new Error('a defect'));
    expect(await client.call('GET', 'a')).to.match(/^-ERR internal error, incident=/);
    expect(face.log.lines.some(({ event }) => event === 'resp.request.failed')).to.equal(true);
  });

  it('runs as many commands as the day has left', async () => {
    const client = await face.client();
    face.quotaLeft = 2;
    client.send(['INCR n', 'INCR n', 'INCR n'].map((line) => encodeCommand(line.split(' '))).join(''));
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      ':1\r\n',
      ':2\r\n',
      '-ERR max daily request limit exceeded\r\n',
    ]);
  });

  it('counts what a database has used', async () => {
    const client = await face.client();
    await client.call('SET', 'key', 'value');
    const [usage] = face.usages;
    expect([usage?.commands, usage?.writes, usage?.bytesIn]).to.deep.equal([1, 1, 11]);
  });

  it('finds the partition of a key in a database of several', async () => {
    const client = await face.client(2, WIDE_PASSWORD);
    for (let i = 0; i < 20; i += 1) expect(await client.call('SET', `k${i}`, String(i))).to.equal('+OK\r\n');
    expect(new Set(face.owner.requests.map(({ partition }) => partition)).size).to.equal(3);
    expect(await client.call('DBSIZE')).to.equal(':20\r\n');
    expect(await client.call('MGET', 'k1', 'k2', 'k3')).to.match(/^-CROSSSLOT/);
  });

  it('stays as it is while a client says nothing of what it was sent', async () => {
    const client = await face.client();
    await client.call('SET', 'k', 'v'.repeat(100_000));
    client.socket.pause();
    face.owner.requests.length = 0;
    client.send(encodeCommand(['GET', 'k']).repeat(3_000));
    const count = () => face.owner.requests.reduce((sum, { commands }) => sum + commands.length, 0);
    await eventually(() => expect(count()).to.be.above(0));
    // A round trip of another connection: time enough to ask for more, had it not been held up.
    const other = await face.client();
    for (let i = 0; i < 50; i += 1) await other.call('ECHO', 'x');
    expect(count()).to.be.below(3_000);
    client.socket.resume();
    for (let i = 0; i < 3_000; i += 1) expect((await client.next()).length).to.equal(100_011);
  }).timeout(20_000);
});

describe('native protocol: bounds and the end', () => {
  it('has room for so many connections, and for so many of one address', async () => {
    const face = await new RespFaceHarness({ limits: { maxConnectionsPerAddress: 2 } }).start();
    try {
      const first = await face.client();
      await face.client();
      const third = await face.connect();
      expect(await third.next()).to.equal('-ERR max number of clients reached\r\n');
      await third.closed();
      first.close();
      await eventually(async () => expect(await (await face.connect()).call('PING')).to.match(/^-NOAUTH/));
    } finally {
      await face.stop();
    }
  });

  it('lets go of those who do not sign in', async () => {
    const face = await new RespFaceHarness({ limits: { signInTimeoutMs: 50, sweepEveryMs: 10 } }).start();
    try {
      const signedIn = await face.client();
      await (await face.connect()).closed();
      expect(await signedIn.call('PING')).to.equal('+PONG\r\n');
    } finally {
      await face.stop();
    }
  });

  it('answers what is under way when it ends, and takes nothing new', async () => {
    const face = await new RespFaceHarness().start();
    const client = await face.client();
    let open = () => {};
    face.owner.gate = new Promise((resolve) => (open = resolve));
    face.owner.requests.length = 0;
    client.send(encodeCommand(['SET', 'a', '1']));
    await eventually(() => expect(face.owner.requests).to.have.length(1));
    const idle = await face.connect();
    const closed = face.server.close();
    await idle.closed();
    open();
    expect(await client.next()).to.equal('+OK\r\n');
    await client.closed();
    await closed;
  });

  it('ends a connection that is in use with its next answer, and then those that say nothing', async () => {
    const face = await new RespFaceHarness().start();
    const client = await face.client();
    const silent = await face.client();
    const closed = face.server.close();
    expect(await client.call('SET', 'a', '1')).to.equal('+OK\r\n');
    await client.closed();
    await silent.closed();
    await closed;
  });

  it('cuts everything off at the deadline', async () => {
    const face = await new RespFaceHarness().start();
    const client = await face.client();
    face.owner.gate = new Promise(() => {});
    client.send(encodeCommand(['SET', 'a', '1']));
    await eventually(() => expect(face.owner.requests.at(-1)?.commands).to.deep.equal([['SET', 'a', '1']]));
    const deadline = new AbortController();
    const closed = face.server.close(deadline.signal);
    deadline.abort();
    await closed;
    await client.closed();
  });
});
