import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { PASSWORD, type RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const NONE = '-ERR no such fieldset\r\n';

describe('RESP: HIMPORT', () => {
  const face = standOfEachTest(() => new RespEndpointHarness().start());
  let client: RawClient;
  beforeEach(async () => {
    client = await face.client();
  });

  function call(line: string): Promise<string> {
    return client.call(...line.split(' '));
  }

  /** The answers to a pipeline, sent in one piece. */
  async function pipeline(...lines: readonly string[]): Promise<readonly string[]> {
    client.send(lines.map((line) => encodeCommand(line.split(' '))).join(''));
    const answers: string[] = [];
    for (const _ of lines) answers.push(await client.next());
    return answers;
  }

  it('HIMPORT SET pairs values with the fields that PREPARE named', async () => {
    expect(await call('HIMPORT PREPARE user name age')).to.equal('+OK\r\n');
    expect(await call('HIMPORT SET u:1 user ann 30')).to.equal('+OK\r\n');
    expect(await call('HGETALL u:1')).to.equal('*4\r\n$4\r\nname\r\n$3\r\nann\r\n$3\r\nage\r\n$2\r\n30\r\n');
  });

  it('HIMPORT SET replaces a hash with its expiry, and no other type', async () => {
    await call('HSET h old 1');
    await call('EXPIRE h 100');
    await call('HIMPORT PREPARE user name');
    expect(await call('HIMPORT SET h user ann')).to.equal('+OK\r\n');
    expect([await call('HGETALL h'), await call('TTL h')]).to.deep.equal([
      '*2\r\n$4\r\nname\r\n$3\r\nann\r\n',
      ':-1\r\n',
    ]);
    await call('SET s x');
    expect(await call('HIMPORT SET s user ann')).to.match(/^-WRONGTYPE/);
    expect(await call('GET s')).to.equal('$1\r\nx\r\n');
  });

  it('HIMPORT PREPARE and SET follow each other in one pipeline', async () => {
    const answers = await pipeline(
      'SET before 1',
      'HIMPORT PREPARE f a b',
      'HIMPORT SET k:1 f 1 2',
      'HIMPORT PREPARE f c',
      'HIMPORT SET k:2 f 3',
      'HIMPORT DISCARD f',
      'HIMPORT SET k:3 f 4',
      'HGET k:1 b',
      'HGET k:2 c',
    );
    expect(answers).to.deep.equal([
      ...['+OK\r\n', '+OK\r\n', '+OK\r\n', '+OK\r\n', '+OK\r\n', ':1\r\n'],
      ...[NONE, '$1\r\n2\r\n', '$1\r\n3\r\n'],
    ]);
  });

  it('HIMPORT PREPARE refuses a field named twice, and keeps the list of that name', async () => {
    await call('HIMPORT PREPARE f a');
    expect(await call('HIMPORT PREPARE f b c b')).to.equal('-ERR duplicate field name in fieldset\r\n');
    expect(await call('HIMPORT SET k f 1')).to.equal('+OK\r\n');
    expect(await call('HGET k a')).to.equal('$1\r\n1\r\n');
  });

  it('HIMPORT SET refuses another number of values, and a list of another connection', async () => {
    await call('HIMPORT PREPARE f a b');
    expect(await call('HIMPORT SET k f 1')).to.equal('-ERR value count does not match fieldset field count\r\n');
    const other = await face.client();
    expect(await other.call('HIMPORT', 'SET', 'k', 'f', '1', '2')).to.equal(NONE);
    expect(await call('EXISTS k')).to.equal(':0\r\n');
  });

  it('HIMPORT DISCARDALL counts the lists, and RESET removes them', async () => {
    await call('HIMPORT PREPARE f a');
    await call('HIMPORT PREPARE g a');
    expect([await call('HIMPORT DISCARDALL'), await call('HIMPORT DISCARDALL')]).to.deep.equal([':2\r\n', ':0\r\n']);
    expect(await call('HIMPORT DISCARD f')).to.equal(':0\r\n');
    await call('HIMPORT PREPARE f a');
    await call('RESET');
    await client.call('AUTH', PASSWORD);
    expect(await call('HIMPORT SET k f 1')).to.equal(NONE);
  });

  it('HIMPORT commands run in their order in a transaction', async () => {
    await pipeline('MULTI', 'HIMPORT PREPARE f a', 'HIMPORT SET k f 1', 'HIMPORT DISCARD f', 'HIMPORT SET k f 2');
    expect(await call('EXEC')).to.equal(`*4\r\n+OK\r\n+OK\r\n:1\r\n${NONE}`);
    expect(await call('HGET k a')).to.equal('$1\r\n1\r\n');
  });

  it('HIMPORT PREPARE in a transaction that is not executed has no effect', async () => {
    const other = await face.client();
    await call('WATCH w');
    await other.call('SET', 'w', '1');
    await pipeline('MULTI', 'HIMPORT PREPARE f a', 'SET x 1');
    expect(await call('EXEC')).to.equal('*-1\r\n');
    expect(await call('HIMPORT SET k f 1')).to.equal(NONE);
  });

  it('lists of fields count as memory of the connection, as CLIENT INFO shows', async () => {
    const totalOf = async () => Number(/tot-mem=(\d+)/.exec(await call('CLIENT INFO'))?.[1]);
    const before = await totalOf();
    await call(`HIMPORT PREPARE f ${'x'.repeat(10_000)}`);
    expect(await totalOf()).to.be.greaterThan(before + 10_000);
    await call('HIMPORT DISCARD f');
    expect(await totalOf()).to.be.lessThan(before + 10_000);
  });

  it('a script has no lists of fields, and clients cannot send the command for owners', async () => {
    await call('HIMPORT PREPARE f a');
    expect(await client.call('EVAL', "return redis.call('HIMPORT', 'SET', 'k', 'f', '1')", '0')).to.match(
      /^-ERR no such fieldset/,
    );
    expect(await call('HIMPORT.SET k a 1')).to.match(/^-ERR unknown command/);
    expect(await call('HIMPORT')).to.match(/^-ERR wrong number of arguments for 'himport' command/);
    expect(await call('HIMPORT NONE')).to.match(/^-ERR unknown subcommand 'NONE'/);
  });
});
