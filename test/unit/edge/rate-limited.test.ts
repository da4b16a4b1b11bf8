import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import type { Quota } from '../../../src/ports/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness } from '../../support/kv-endpoint.js';
import { PASSWORD, RespEndpointHarness } from '../../support/resp-endpoint.js';

const TEXT = 'ERR max commands per second exceeded, nothing was executed';

/** A gate that lets requests through when the test opens it, like a throttle. */
class Gate implements Quota {
  isShut = false;
  readonly asked: { readonly commands: number; readonly bytes: number | undefined }[] = [];
  readonly #waiting: (() => void)[] = [];

  take(_grant: unknown, commands: number, bytes?: number): true | Promise<boolean> {
    this.asked.push({ commands, bytes });
    if (!this.isShut) return true;
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => (this.isShut ? reject(new MillraceError('RATE_LIMITED', 'too many')) : resolve(true)));
    });
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Waiting requests are refused if it is still closed. */
  end(): void {
    for (const settle of this.#waiting.splice(0)) settle();
  }
}

describe('commands that the throttle delays', () => {
  const gate = () => Object.assign(new Gate(), { isShut: true });

  it('are answered over REST when their turn comes', async () => {
    const quota = gate();
    const face = await new KvEndpointHarness({ quota }).start();
    const answers = [face.post('/', ['SET', 'a', '1']), face.post('/multi-exec', [['SET', 'b', '22']])];
    await eventually(() => expect(quota.waiting).to.equal(2));
    expect(face.gateway.requests).to.have.length(0);
    quota.isShut = false;
    quota.end();
    expect((await Promise.all(answers)).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(quota.asked.map(({ bytes }) => bytes).sort()).to.deep.equal([5, 6]);
    await face.stop();
  });

  it('are refused with 429 over REST when too many wait, without executing one', async () => {
    const quota = gate();
    const face = await new KvEndpointHarness({ quota }).start();
    const answers = [
      face.post('/', ['SET', 'a', '1']),
      face.post('/pipeline', [['SET', 'a', '1']]),
      face.post('/multi-exec', [['SET', 'a', '1']]),
    ];
    await eventually(() => expect(quota.waiting).to.equal(3));
    quota.end();
    for (const { status, headers, text } of await Promise.all(answers)) {
      expect(status).to.equal(429);
      expect(headers['retry-after']).to.equal('1');
      expect(JSON.parse(text)).to.deep.equal({ error: TEXT });
    }
    quota.isShut = false;
    expect((await face.get('/get/a')).text).to.equal('{"result":null}');
    await face.stop();
  });

  it('are refused over RESP one by one, and the connection stays open', async () => {
    const quota = gate();
    const face = await new RespEndpointHarness({ quota }).start();
    const client = await face.connect();
    await client.call('AUTH', PASSWORD);
    client.send(['SET a 1', 'GET a', 'PING', 'GET a'].map((line) => encodeCommand(line.split(' '))).join(''));
    await eventually(() => expect(quota.waiting).to.equal(1));
    quota.end();
    const refused = `-${TEXT}\r\n`;
    const replies = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(replies).to.deep.equal([refused, refused, '+PONG\r\n', refused]);
    client.send(encodeCommand(['BLPOP', 'list', '1']));
    await eventually(() => expect(quota.waiting).to.equal(1));
    quota.end();
    expect(await client.next()).to.equal(refused);
    await client.call('MULTI');
    await client.call('SET', 'a', '1');
    client.send(encodeCommand(['EXEC']));
    await eventually(() => expect(quota.waiting).to.equal(1));
    quota.end();
    expect(await client.next()).to.equal(refused);
    quota.isShut = false;
    expect(await client.call('GET', 'a')).to.equal('$-1\r\n');
    await face.stop();
  });
});
