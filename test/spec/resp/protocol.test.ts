/** Proves RCO1–RCO4, RSE1–RSE3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { allCommands } from '../../../src/domain/kv/index.js';
import { CONNECTION_COMMANDS, createRespServer } from '../../../src/edge/index.js';
import { type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { OTHER_PASSWORD, PASSWORD, RespEndpointHarness, WIDE_PASSWORD } from '../../support/resp-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('RESP: connections', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());

  it('implement every command about the connection', () => {
    const rows = allCommands().filter(({ flags }) => flags.includes('connection'));
    expect(rows.map(({ name }) => name).filter((name) => !CONNECTION_COMMANDS.has(name))).to.deep.equal([]);
    expect(typeof createRespServer).to.equal('function');
  });

  it('are listed per database, without those of other databases', async () => {
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

  it('answer pipelined commands in order, with one request to the partition for those that arrive together', async () => {
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

  it('keep thousands of pipelined commands in order, in bounded requests', async () => {
    const client = await face.client();
    const count = 5_000;
    client.send(Array.from({ length: count }, () => encodeCommand(['INCR', 'n'])).join(''));
    for (let i = 1; i <= count; i += 1) expect(await client.next()).to.equal(`:${i}\r\n`);
    expect(Math.max(...face.owner.requests.map(({ commands }) => commands.length))).to.be.at.most(1_000);
  });

  it('have one open request at a time', async () => {
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

  it('accept inline commands', async () => {
    const client = await face.connect();
    client.send(`AUTH ${PASSWORD}\r\nSET k "a b\\x41"\r\nGET k\n\r\nECHO 'x'\r\n`);
    expect([await client.next(), await client.next(), await client.next(), await client.next()]).to.deep.equal([
      '+OK\r\n',
      '+OK\r\n',
      '$4\r\na bA\r\n',
      '$1\r\nx\r\n',
    ]);
  });

  it('answer the commands before invalid bytes, report the error, and close', async () => {
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

  it('answer a client that has ended its side, and then close', async () => {
    const client = await face.client();
    client.socket.end(encodeCommand(['SET', 'a', '1']) + encodeCommand(['GET', 'a']), 'latin1');
    expect([await client.next(), await client.next()]).to.deep.equal(['+OK\r\n', '$1\r\n1\r\n']);
    await client.closed();
  });

  it('answer QUIT and RESET like Redis', async () => {
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

  it('send large replies completely, without delaying others', async () => {
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

  it('refuse a command that is too large and continue', async () => {
    face.maxCommandBytes = 1_000;
    const client = await face.client();
    const problem = '-ERR max request size exceeded. Limit: 1000 bytes, Actual: 1001 bytes\r\n';
    expect(await client.call('SET', 'k', 'v'.repeat(997))).to.equal(problem);
    expect(await client.call('SET', 'k', 'v'.repeat(996))).to.equal('+OK\r\n');
  });

  it('accept one command of the size in docs/guide/connecting.md, and refuse a larger one', async () => {
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

  it('refuse a key that is too large', async () => {
    const client = await face.client();
    expect(await client.call('SET', 'k'.repeat(1024 * 1024), 'v')).to.equal('+OK\r\n');
    expect(await client.call('SET', 'k'.repeat(1024 * 1024 + 1), 'v')).to.match(/^-ERR max key size exceeded/);
  });

  it('answer BUSY for a database that is busy for longer than a request waits, also to each command of a transaction', async () => {
    const client = await face.client();
    face.owner.failures.push(new MillraceError('TENANT_BUSY', 'a script'));
    expect(await client.call('GET', 'k')).to.match(/^-BUSY this database is busy running a script or a long command/);
    expect(await client.call('GET', 'k')).to.equal('$-1\r\n');
    await client.call('MULTI');
    await client.call('SET', 'k', '1');
    face.owner.failures.push(new MillraceError('TENANT_BUSY', 'a script'));
    expect(await client.call('EXEC')).to.match(/^-BUSY /);
  });

  it('answer a failure to each command that it concerns', async () => {
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

  it('run as many commands as the daily limit allows', async () => {
    const client = await face.client();
    face.quotaLeft = 2;
    client.send(['INCR n', 'INCR n', 'INCR n'].map((line) => encodeCommand(line.split(' '))).join(''));
    expect([await client.next(), await client.next(), await client.next()]).to.deep.equal([
      ':1\r\n',
      ':2\r\n',
      '-ERR max daily request limit exceeded\r\n',
    ]);
  });

  it('count the usage of their database', async () => {
    const client = await face.client();
    await client.call('SET', 'key', 'value');
    const [usage] = face.usages;
    expect([usage?.commands, usage?.writes, usage?.bytesIn]).to.deep.equal([1, 1, 11]);
  });

  it('find the partition of a key in a database of several', async () => {
    const client = await face.client(2, WIDE_PASSWORD);
    for (let i = 0; i < 20; i += 1) expect(await client.call('SET', `k${i}`, String(i))).to.equal('+OK\r\n');
    expect(new Set(face.owner.requests.map(({ partition }) => partition)).size).to.equal(3);
    expect(await client.call('DBSIZE')).to.equal(':20\r\n');
    expect(await client.call('MGET', 'k1', 'k2', 'k3')).to.match(/^-CROSSSLOT/);
  });

  it('stop reading while a client does not read its answers', async () => {
    const client = await face.client();
    await client.call('SET', 'k', 'v'.repeat(100_000));
    client.socket.pause();
    face.owner.requests.length = 0;
    client.send(encodeCommand(['GET', 'k']).repeat(3_000));
    const count = () => face.owner.requests.reduce((sum, { commands }) => sum + commands.length, 0);
    await eventually(() => expect(count()).to.be.above(0));
    // Fifty round trips of another connection: more requests would reach the owner in that time if the client were not held
    // up.
    const other = await face.client();
    for (let i = 0; i < 50; i += 1) await other.call('ECHO', 'x');
    expect(count()).to.be.below(3_000);
    client.socket.resume();
    for (let i = 0; i < 3_000; i += 1) expect((await client.next()).length).to.equal(100_011);
  });
});

describe('RESP: bounds and the end', () => {
  it('limit the number of connections, in total and per address', async () => {
    const face = await new RespEndpointHarness({ limits: { maxConnectionsPerAddress: 2 } }).start();
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

  it('end connections that do not sign in', async () => {
    const face = await new RespEndpointHarness({ limits: { signInTimeoutMs: 50, sweepEveryMs: 10 } }).start();
    try {
      const signedIn = await face.client();
      await (await face.connect()).closed();
      expect(await signedIn.call('PING')).to.equal('+PONG\r\n');
    } finally {
      await face.stop();
    }
  });

  it('answer commands in progress at the end, and accept no new ones', async () => {
    const face = await new RespEndpointHarness().start();
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

  it('end an active connection with its next answer, and then the idle ones', async () => {
    const face = await new RespEndpointHarness().start();
    const client = await face.client();
    const silent = await face.client();
    const closed = face.server.close();
    expect(await client.call('SET', 'a', '1')).to.equal('+OK\r\n');
    await client.closed();
    await silent.closed();
    await closed;
  });

  it('end every connection at the deadline', async () => {
    const face = await new RespEndpointHarness().start();
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
