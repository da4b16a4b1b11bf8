/** Proves TX1–TX3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { type RawClient, RespEndpointHarness, WIDE_PASSWORD } from '../../support/resp-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

describe('RESP: transactions', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());
  let client: RawClient;
  let other: RawClient;
  beforeEach(async () => {
    client = await face.client();
    other = await face.client();
  });

  it('run the queued commands as one request', async () => {
    face.owner.requests.length = 0;
    client.send(['MULTI', 'SET a 1', 'INCR a', 'EXEC'].map((line) => encodeCommand(line.split(' '))).join(''));
    const answers = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(answers).to.deep.equal(['+OK\r\n', '+QUEUED\r\n', '+QUEUED\r\n', '*2\r\n+OK\r\n:2\r\n']);
    expect(face.owner.requests.map(({ mode, commands }) => [mode, commands.length])).to.deep.equal([
      ['transaction', 2],
    ]);
  });

  it('answer commands about the connection at their place', async () => {
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    await client.call('PING');
    await client.call('CLIENT', 'SETNAME', 'me');
    await client.call('INCR', 'a');
    await client.call('CLIENT', 'GETNAME');
    expect(await client.call('EXEC')).to.equal('*5\r\n+OK\r\n+PONG\r\n+OK\r\n:2\r\n$2\r\nme\r\n');
    await client.call('MULTI');
    expect(await client.call('EXEC')).to.equal('*0\r\n');
  });

  it('run no command when one could not be queued', async () => {
    await client.call('MULTI');
    expect(await client.call('SET', 'a', '1')).to.equal('+QUEUED\r\n');
    expect(await client.call('SET', 'a')).to.match(/^-ERR wrong number/);
    expect(await client.call('EXEC')).to.equal('-EXECABORT Transaction discarded because of previous errors.\r\n');
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
  });

  it('refuse to queue a command that a full database would refuse', async () => {
    await client.call('CONFIG', 'SET', 'maxmemory', '1');
    await client.call('MULTI');
    expect(await client.call('GET', 'a')).to.equal('+QUEUED\r\n');
    face.owner.isFull = true;
    await other.call('GET', 'a');
    expect(await client.call('SET', 'a', '1')).to.match(/^-OOM command not allowed/);
    expect(await client.call('EXEC')).to.equal('-EXECABORT Transaction discarded because of previous errors.\r\n');
    face.owner.isFull = false;
    await other.call('GET', 'a');
    await client.call('MULTI');
    expect(await client.call('SET', 'a', '1')).to.equal('+QUEUED\r\n');
  });

  it('continue after an error at run time', async () => {
    await client.call('SET', 's', 'x');
    await client.call('MULTI');
    await client.call('INCR', 's');
    await client.call('SET', 's', 'y');
    expect(await client.call('EXEC')).to.equal('*2\r\n-ERR value is not an integer or out of range\r\n+OK\r\n');
  });

  it('cannot be nested, nor ended without MULTI', async () => {
    expect(await client.call('EXEC')).to.equal('-ERR EXEC without MULTI\r\n');
    expect(await client.call('DISCARD')).to.equal('-ERR DISCARD without MULTI\r\n');
    await client.call('MULTI');
    expect(await client.call('MULTI')).to.equal('-ERR MULTI calls can not be nested\r\n');
    expect(await client.call('WATCH', 'a')).to.equal('-ERR WATCH inside MULTI is not allowed\r\n');
    expect(await client.call('EXEC')).to.equal('*0\r\n');
    await client.call('MULTI');
    expect(await client.call('HELLO', '3')).to.equal('-ERR Command not allowed inside a transaction\r\n');
    expect(await client.call('EXEC')).to.match(/^-EXECABORT/);
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    expect(await client.call('DISCARD')).to.equal('+OK\r\n');
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
  });

  it('run no command when a watched key has changed', async () => {
    await client.call('WATCH', 'a', 'b');
    await other.call('SET', 'b', '1');
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    expect(await client.call('EXEC')).to.equal('*-1\r\n');
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
    // EXEC has ended the watch.
    await client.call('MULTI');
    expect(await client.call('EXEC')).to.equal('*0\r\n');
  });

  it('answer null in RESP3 when a watched key has changed, even without queued commands', async () => {
    await client.call('HELLO', '3');
    await client.call('WATCH', 'a');
    await other.call('SET', 'a', '1');
    await client.call('MULTI');
    expect(await client.call('EXEC')).to.equal('_\r\n');
  });

  it('run after UNWATCH or DISCARD, or when no watched key changed', async () => {
    for (const end of ['UNWATCH', 'DISCARD', 'nothing']) {
      await client.call('WATCH', 'a');
      if (end !== 'nothing') await other.call('INCR', 'a');
      if (end === 'DISCARD') await client.call('MULTI');
      if (end !== 'nothing') await client.call(end);
      await client.call('MULTI');
      await client.call('ECHO', end);
      expect(await client.call('EXEC'), end).to.equal(`*1\r\n$${end.length}\r\n${end}\r\n`);
    }
  });

  it('need keys of one slot in a database of several partitions, watched ones included', async () => {
    const wide = await face.client(2, WIDE_PASSWORD);
    await wide.call('WATCH', '{a}x');
    await wide.call('MULTI');
    await wide.call('SET', '{a}x', '1');
    await wide.call('SET', '{a}y', '1');
    expect(await wide.call('EXEC')).to.equal('*2\r\n+OK\r\n+OK\r\n');
    await wide.call('MULTI');
    await wide.call('SET', 'a', '1');
    await wide.call('SET', 'b', '1');
    expect(await wide.call('EXEC')).to.match(/^-CROSSSLOT/);
  });

  it('are limited in commands and watched keys', async () => {
    const small = await new RespEndpointHarness({ limits: { maxQueuedCommands: 2, maxWatchedKeys: 2 } }).start();
    try {
      const one = await small.client();
      expect(await one.call('WATCH', 'a', 'b', 'c')).to.match(/^-ERR too many watched keys/);
      await one.call('MULTI');
      await one.call('GET', 'a');
      expect(await one.call('GET', 'a')).to.equal('+QUEUED\r\n');
      expect(await one.call('GET', 'a')).to.match(/^-ERR transaction exceeds/);
      expect(await one.call('EXEC')).to.match(/^-EXECABORT/);
    } finally {
      await small.stop();
    }
  });
});
