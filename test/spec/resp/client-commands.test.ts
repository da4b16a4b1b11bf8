/** Proves PAU1, RCO6. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { eventually } from '../../support/eventually.js';
import { PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('RESP: CLIENT', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());
  let client: RawClient;
  let other: RawClient;
  beforeEach(async () => {
    client = await face.client();
    other = await face.client();
  });

  const idOf = async (one: RawClient) => /:(\d+)/.exec(await one.call('CLIENT', 'ID'))?.[1] as string;

  it('GETNAME, SETNAME, ID and INFO describe the connection', async () => {
    expect(await client.call('CLIENT', 'GETNAME')).to.equal('$-1\r\n');
    expect(await client.call('CLIENT', 'SETNAME', 'a b')).to.equal(
      '-ERR Client names cannot contain spaces, newlines or special characters.\r\n',
    );
    expect(await client.call('CLIENT', 'SETNAME', 'me')).to.equal('+OK\r\n');
    expect(await client.call('CLIENT', 'SETINFO', 'LIB-NAME', 'lib')).to.equal('+OK\r\n');
    expect(await client.call('CLIENT', 'SETINFO', 'lib-ver', '1.0')).to.equal('+OK\r\n');
    expect(await client.call('CLIENT', 'SETINFO', 'foo', '1')).to.equal("-ERR Unrecognized option 'foo'\r\n");
    const info = await client.call('CLIENT', 'INFO');
    expect(info).to.match(
      /id=\d+ addr=127\.0\.0\.1:\d+ laddr=127\.0\.0\.1:\d+ fd=\d+ name=me age=0 idle=0 flags=N db=0/,
    );
    expect(info).to.match(/cmd=client\|info user=default redir=-1 resp=2 lib-name=lib lib-ver=1\.0\n\r\n$/);
    expect(await client.call('CLIENT', 'HELP')).to.match(/^\*\d+\r\n\+CLIENT <subcommand>/);
    for (const command of ['NO-EVICT', 'NO-TOUCH']) {
      expect(await client.call('CLIENT', command, 'ON')).to.equal('+OK\r\n');
      expect(await client.call('CLIENT', command, 'x')).to.equal('-ERR syntax error\r\n');
    }
    expect(await client.call('CLIENT', 'FOO')).to.equal("-ERR unknown subcommand 'FOO'. Try CLIENT HELP.\r\n");
    expect(await client.call('CLIENT')).to.equal("-ERR wrong number of arguments for 'client' command\r\n");
    expect(await client.call('CLIENT', 'ID', 'x')).to.equal(
      "-ERR wrong number of arguments for 'client|id' command\r\n",
    );
  });

  it('LIST shows all connections, or those of an id or a type', async () => {
    const lines = async (...words: string[]) => (await client.call('CLIENT', 'LIST', ...words)).match(/id=/g)?.length;
    expect(await lines()).to.equal(2);
    expect(await lines('ID', await idOf(other), '9999')).to.equal(1);
    await other.call('SUBSCRIBE', 'c');
    expect(await lines('TYPE', 'pubsub')).to.equal(1);
    expect(await lines('TYPE', 'normal')).to.equal(1);
    expect(await lines('TYPE', 'master')).to.equal(undefined);
    expect(await client.call('CLIENT', 'LIST', 'TYPE', 'foo')).to.equal("-ERR Unknown client type 'foo'\r\n");
    expect(await client.call('CLIENT', 'LIST', 'ID', 'x')).to.equal('-ERR Invalid client ID\r\n');
    expect(await client.call('CLIENT', 'LIST', 'foo')).to.equal('-ERR syntax error\r\n');
  });

  it('KILL ends connections by address or by filters', async () => {
    const address = `127.0.0.1:${other.socket.localPort}`;
    expect(await client.call('CLIENT', 'KILL', '1.2.3.4:5')).to.equal('-ERR No such client\r\n');
    expect(await client.call('CLIENT', 'KILL', address)).to.equal('+OK\r\n');
    await other.closed();
    const third = await face.client();
    expect(await client.call('CLIENT', 'KILL', 'ID', await idOf(third), 'TYPE', 'pubsub')).to.equal(':0\r\n');
    expect(await client.call('CLIENT', 'KILL', 'USER', 'default')).to.equal(':1\r\n');
    await third.closed();
    expect(await client.call('CLIENT', 'KILL', 'ID', 'x')).to.equal('-ERR client-id should be greater than 0\r\n');
    expect(await client.call('CLIENT', 'KILL', 'SKIPME', 'maybe')).to.equal('-ERR syntax error\r\n');
    expect(await client.call('CLIENT', 'KILL', 'TYPE', 'x')).to.equal("-ERR Unknown client type 'x'\r\n");
    expect(await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no')).to.equal(':1\r\n');
    await client.closed();
  });

  it('KILL names the invalid filter', async () => {
    const answers = ['MAXAGE x', 'MAXAGE -1'].map((words) => client.call('CLIENT', 'KILL', ...words.split(' ')));
    expect(await Promise.all(answers)).to.deep.equal([
      '-ERR maxage is not an integer or out of range\r\n',
      '-ERR maxage should be greater than 0\r\n',
    ]);
  });

  it('REPLY switches answers off, on, and off for one command', async () => {
    const lines = ['CLIENT REPLY OFF', 'SET a 1', 'GET a', 'CLIENT REPLY ON', 'CLIENT REPLY SKIP', 'GET a', 'GET a'];
    client.send(lines.map((line) => encodeCommand(line.split(' '))).join(''));
    expect([await client.next(), await client.next()]).to.deep.equal(['+OK\r\n', '$1\r\n1\r\n']);
    client.send(['CLIENT REPLY SKIP', 'FOO', 'PING'].map((line) => encodeCommand(line.split(' '))).join(''));
    expect(await client.next()).to.equal('+PONG\r\n');
  });

  it('PAUSE holds up all commands or writes, until its time or UNPAUSE', async () => {
    expect(await client.call('CLIENT', 'PAUSE', '100000', 'WRITE')).to.equal('+OK\r\n');
    expect(await other.call('GET', 'a')).to.equal('$-1\r\n');
    other.send(encodeCommand(['SET', 'a', '1']));
    expect(await client.call('ECHO', 'x')).to.equal('$1\r\nx\r\n');
    expect(other.unread).to.deep.equal([]);
    expect(await client.call('CLIENT', 'UNPAUSE')).to.equal('+OK\r\n');
    expect(await other.next()).to.equal('+OK\r\n');
    await client.call('CLIENT', 'PAUSE', '30');
    expect(await other.call('GET', 'a')).to.equal('$1\r\n1\r\n');
    expect(await client.call('CLIENT', 'PAUSE', 'x')).to.equal('-ERR timeout is not an integer or out of range\r\n');
    expect(await client.call('CLIENT', 'PAUSE', '-1')).to.equal('-ERR timeout is negative\r\n');
    expect(await client.call('CLIENT', 'PAUSE', '1', 'x')).to.equal('-ERR CLIENT PAUSE mode must be WRITE or ALL\r\n');
  });

  it('SELECT of an unknown database refuses all further commands until SELECT 0', async () => {
    expect(await client.call('SELECT', 'x')).to.equal('-ERR value is not an integer or out of range\r\n');
    expect(await client.call('SET', 'a', '1')).to.equal('+OK\r\n');
    const refusal = await client.call('SELECT', '1');
    expect(refusal).to.match(/^-ERR DB index is out of range: only database 0 exists here\. /);
    expect(refusal).to.contain('make a separate database, which has its own URL and password (millrace db create');
    for (const words of [['SET', 'a', '2'], ['MULTI'], ['SUBSCRIBE', 'a'], ['INFO']]) {
      expect(await client.call(...words)).to.equal(`${refusal.trimEnd()} (this connection selected database 1)\r\n`);
    }
    expect(await client.call('PING')).to.equal('+PONG\r\n');
    expect(await client.call('CLIENT', 'ID')).to.match(/^:/);
    expect(await client.call('SELECT', '0')).to.equal('+OK\r\n');
    expect(await client.call('GET', 'a')).to.equal('$1\r\n1\r\n');
    await client.call('SELECT', '16');
    await client.call('RESET');
    await client.call('AUTH', PASSWORD);
    expect(await client.call('GET', 'a')).to.equal('$1\r\n1\r\n');
  });

  it('PAUSE never shortens or weakens an earlier pause', async () => {
    await client.call('CLIENT', 'PAUSE', '100000', 'WRITE');
    await client.call('CLIENT', 'PAUSE', '1', 'WRITE');
    await client.call('CLIENT', 'PAUSE', '1');
    await client.call('CLIENT', 'PAUSE', '0', 'WRITE');
    other.send(encodeCommand(['GET', 'a']));
    await eventually(async () => expect(await client.call('CLIENT', 'LIST')).to.match(/id=2 .*flags=b /));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(other.unread).to.deep.equal([]);
    await client.call('CLIENT', 'UNPAUSE');
    expect(await other.next()).to.equal('$-1\r\n');
  });

  it('PAUSE drops the held commands of a client that has gone', async () => {
    await client.call('CLIENT', 'PAUSE', '100000', 'WRITE');
    const owner = face.owner.ownerOf('kv:db-first:0');
    const held = () => [...owner.listeners].filter(({ kind, name }) => kind === 'pause' && name === 'held').length;
    other.send(encodeCommand(['SET', 'a', '1']) + encodeCommand(['PUBLISH', 'c', 'm']));
    await eventually(() => expect(held()).to.equal(1));
    other.close();
    await eventually(() => expect(held()).to.equal(0));
    expect(await client.call('CLIENT', 'UNPAUSE')).to.equal('+OK\r\n');
    await eventually(() => expect(owner.listeners.size).to.equal(0));
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
  });

  it('PAUSE in a transaction starts at its place', async () => {
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    await client.call('CLIENT', 'PAUSE', '100000', 'WRITE');
    expect(await client.call('EXEC')).to.equal('*2\r\n+OK\r\n+OK\r\n');
    other.send(encodeCommand(['SET', 'a', '2']));
    expect(await client.call('GET', 'a')).to.equal('$1\r\n1\r\n');
    await client.call('CLIENT', 'UNPAUSE');
    expect(await other.next()).to.equal('+OK\r\n');
  });

  it('UNBLOCK answers 0 where the connection does not wait', async () => {
    expect(await client.call('CLIENT', 'UNBLOCK', await idOf(other))).to.equal(':0\r\n');
    expect(await client.call('CLIENT', 'UNBLOCK', '1', 'x')).to.equal(
      '-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR\r\n',
    );
    expect(await client.call('CLIENT', 'UNBLOCK', 'x')).to.equal('-ERR value is not an integer or out of range\r\n');
  });

  it('LIST omits connections that have ended', async () => {
    other.close();
    await eventually(async () => expect(await client.call('CLIENT', 'LIST')).not.to.match(/id=.*id=/s));
  });
});

describe('RESP: HTTP on its port', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());

  for (const [name, lines] of Object.entries({
    'a line of POST': 'POST / HTTP/1.1\r\n',
    'a line of Host behind another method': 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'the same in other letters': 'hOsT: localhost\r\n',
    'POST as a command': encodeCommand(['post', '/']),
  })) {
    it(`ends at ${name} without an answer, signed in or not, with a line in the log`, async () => {
      for (const client of [await face.connect(), await face.client()]) {
        client.send(`${lines}SET k unasked\r\n`);
        await client.closed();
        expect(client.unread).to.deep.equal([]);
      }
      const client = await face.client();
      expect(await client.call('GET', 'k')).to.equal('$-1\r\n');
      const warnings = face.log.lines.filter(({ event }) => event === 'resp.security.http');
      expect(warnings).to.have.length(1);
      expect(JSON.stringify(warnings)).to.contain('127.0.0.1:');
    });
  }

  it('runs the commands before it', async () => {
    const client = await face.client();
    client.send('SET k asked\r\nPOST / HTTP/1.1\r\n');
    await client.closed();
    expect(await (await face.client()).call('GET', 'k')).to.equal('$5\r\nasked\r\n');
  });

  it('is not confused with commands that only look similar', async () => {
    const client = await face.client();
    expect(await client.call('POSTS')).to.match(/^-ERR unknown command/);
    expect(await client.call('Host:localhost')).to.match(/^-ERR unknown command/);
    expect(await client.call('PING')).to.equal('+PONG\r\n');
  });
});
