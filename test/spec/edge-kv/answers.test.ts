/** Proves KAR2. */
import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { ByteBudget } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { KvEndpointHarness, TOKEN, WIDE_TOKEN } from '../../support/kv-endpoint.js';

const VALUE_BYTES = 100_000;
describe('edge/kv: large answers', () => {
  let budget: ByteBudget;
  let face: KvEndpointHarness;
  beforeEach(async () => {
    budget = new ByteBudget(20_000_000);
    face = await new KvEndpointHarness({ budget }).start();
    await face.post('/set/large', 'x'.repeat(VALUE_BYTES));
  });
  afterEach(() => face.stop());

  it('of a single command are limited to the size of a command', async () => {
    face.maxCommandBytes = 10;
    const answer = await face.get('/get/large');
    expect([answer.status, answer.text]).to.deep.equal([
      400,
      '{"error":"ERR max request size exceeded. Limit: 10 bytes, Actual: 100000 bytes"}',
    ]);
  });

  it('are the same in one piece and in many', async () => {
    const wide = await new KvEndpointHarness({ budget }).start();
    try {
      const items = Array.from({ length: 50_000 }, (_, at) => `item ${at} ü "quoted"`);
      await wide.post('/', ['RPUSH', 'list', ...items]);
      const answer = await wide.post('/pipeline', [['LRANGE', 'list', '0', '-1'], ['PING']]);
      expect(JSON.parse(answer.text)).to.deep.equal([{ result: items }, { result: 'PONG' }]);
      expect(answer.headers['transfer-encoding'], 'longer than what is gathered').to.equal('chunked');
      const short = await wide.post('/pipeline', [['LRANGE', 'list', '0', '9']]);
      expect(short.headers['content-length']).to.equal(String(short.body.length));
    } finally {
      await wide.stop();
    }
  });

  it('count until they are read: a tenant that does not read is refused further ones, and other tenants are not', async () => {
    // One tenant may use half of it, and one answer a quarter: more than the kernel buffers for a socket.
    const slow = new ByteBudget(80_000_000);
    const crowded = await new KvEndpointHarness({ budget: slow }).start();
    const sockets: net.Socket[] = [];
    try {
      await crowded.post('/set/k1', '1'.repeat(60_000));
      const body = JSON.stringify(Array.from({ length: 400 }, () => ['GET', 'k1']));
      for (const _ of [1, 2, 3]) {
        const socket = net.connect(crowded.port, '127.0.0.1');
        sockets.push(socket);
        await once(socket, 'connect');
        socket.pause();
        socket.write(
          `POST /multi-exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n` +
            `Content-Length: ${body.length}\r\n\r\n${body}`,
        );
      }
      await eventually(() => expect(slow.bytesOf('db-test')).to.be.greaterThan(40_000_000));
      const refused = await crowded.get('/get/k1');
      expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '1']);
      expect((await crowded.get('/ping', { token: WIDE_TOKEN })).status).to.equal(200);
      for (const socket of sockets) socket.destroy();
      await eventually(async () => expect((await crowded.get('/get/k1')).status).to.equal(200));
      await eventually(() => expect(slow.usedBytes).to.be.below(100_000));
    } finally {
      for (const socket of sockets) socket.destroy();
      await crowded.stop();
    }
  });
});
