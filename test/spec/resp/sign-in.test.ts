import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { OTHER_PASSWORD, PASSWORD, RespEndpointHarness } from '../../support/resp-endpoint.js';

const WRONG = '-WRONGPASS invalid username-password pair or user is disabled.\r\n';

describe('RESP: signing in', () => {
  let face: RespEndpointHarness;
  beforeEach(async () => {
    face = await new RespEndpointHarness({ limits: { sweepEveryMs: 20 } }).start();
  });
  afterEach(() => face.stop());

  it('is required before other commands', async () => {
    const client = await face.connect();
    for (const command of ['GET a', 'PING', 'SUBSCRIBE a', 'CLIENT ID', 'MULTI']) {
      expect(await client.call(...command.split(' '))).to.equal('-NOAUTH Authentication required.\r\n');
    }
    expect(await client.call('NOSUCH')).to.match(/^-ERR unknown command 'NOSUCH'/);
    expect(await client.call('GET')).to.equal("-ERR wrong number of arguments for 'get' command\r\n");
    expect(await client.call('HELLO', '3')).to.match(/^-NOAUTH HELLO must be called/);
  });

  it('is done by password, by user and password, or with HELLO', async () => {
    const client = await face.connect();
    expect(await client.call('AUTH', 'nonsense')).to.equal(WRONG);
    expect(await client.call('AUTH', PASSWORD)).to.equal('+OK\r\n');
    expect(await client.call('AUTH', 'default', PASSWORD)).to.equal('+OK\r\n');
    expect(await client.call('AUTH', 'nobody', PASSWORD)).to.equal(WRONG);
    expect(await client.call('AUTH', 'a', 'b', 'c')).to.equal('-ERR syntax error\r\n');
    const other = await face.connect();
    expect(await other.call('HELLO', '3', 'AUTH', 'default', 'nonsense')).to.equal(WRONG);
    const hello = await other.call('HELLO', '3', 'AUTH', 'default', PASSWORD, 'SETNAME', 'me');
    expect(hello).to.match(/^%7\r\n\$6\r\nserver\r\n\$5\r\nredis\r\n/);
    expect(await other.call('CLIENT', 'GETNAME')).to.equal('$2\r\nme\r\n');
  });

  it('negotiates a version of the protocol', async () => {
    const client = await face.client();
    expect(await client.call('HELLO', '4')).to.equal('-NOPROTO unsupported protocol version\r\n');
    expect(await client.call('HELLO', 'x')).to.equal('-ERR Protocol version is not an integer or out of range\r\n');
    expect(await client.call('HELLO', '2', 'FOO')).to.equal("-ERR Syntax error in HELLO option 'FOO'\r\n");
    expect(await client.call('GET', 'none')).to.equal('$-1\r\n');
    expect(await client.call('HELLO', '3')).to.match(/^%7/);
    expect(await client.call('GET', 'none')).to.equal('_\r\n');
    expect(await client.call('HELLO', '2')).to.match(/^\*14/);
    expect(await client.call('GET', 'none')).to.equal('$-1\r\n');
  });

  it('opens the database of the password, and no other', async () => {
    const one = await face.client();
    const other = await face.client(2, OTHER_PASSWORD);
    await one.call('SET', 'k', 'mine');
    expect(await other.call('GET', 'k')).to.equal('$-1\r\n');
    expect((await other.call('CLIENT', 'LIST')).split('id=')).to.have.length(2);
    const id = /id=(\d+)/.exec(await one.call('CLIENT', 'INFO'))?.[1] as string;
    expect(await other.call('CLIENT', 'KILL', 'ID', id)).to.equal(':0\r\n');
  });

  it('to another database ends subscriptions, watches and transactions of the previous one', async () => {
    const client = await face.client(3);
    await client.call('SUBSCRIBE', 'c');
    await client.call('WATCH', 'k');
    await client.call('AUTH', OTHER_PASSWORD);
    expect(await client.call('CLIENT', 'INFO')).to.match(/ sub=0 .* watch=0 /);
    const publisher = await face.client();
    expect(await publisher.call('PING')).to.equal('+PONG\r\n');
  });

  it('is revoked within a second when the password is gone, also for idle connections', async () => {
    const idle = await face.client(3);
    await idle.call('SUBSCRIBE', 'c');
    const busy = await face.client();
    const other = await face.client(2, OTHER_PASSWORD);
    face.revoked.add(PASSWORD);
    await idle.closed();
    await busy.closed();
    expect(await other.call('PING')).to.equal('+PONG\r\n');
  });

  it('is no longer trusted while the control state is stale: commands are refused', async () => {
    await face.stop();
    face = await new RespEndpointHarness({ limits: { maxDoubtMs: 50 } }).start();
    const client = await face.client();
    face.isControlStale = true;
    const refusal = '-ERR permissions cannot be checked right now, nothing was executed\r\n';
    expect(await client.call('GET', 'a')).to.equal(refusal);
    expect(await client.call('AUTH', PASSWORD)).to.equal(refusal);
    face.isControlStale = false;
    await eventually(async () => expect(await client.call('GET', 'a')).to.equal('$-1\r\n'));
  });

  it('lets commands wait a moment for a fresh control state', async () => {
    const client = await face.client();
    face.isControlStale = true;
    const answer = client.call('GET', 'a');
    setTimeout(() => {
      face.isControlStale = false;
    }, 50);
    expect(await answer).to.equal('$-1\r\n');
  });

  it('allows SELECT of database 0 only', async () => {
    const client = await face.client();
    expect(await client.call('SELECT', '0')).to.equal('+OK\r\n');
    expect(await client.call('SELECT', '1')).to.match(/^-ERR DB index is out of range: only database 0 exists/);
    expect(await client.call('SELECT', 'x')).to.equal('-ERR value is not an integer or out of range\r\n');
  });
});
