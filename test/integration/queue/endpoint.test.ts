/** The queue endpoint on a network: over TLS, and through proxies that pass the caller's address. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../../support/millrace-process.js';
import { expectAnswer } from '../../support/queue-answers.js';
import { QueueProcess } from '../../support/queue-process.js';
import { selfSignedCertificate } from '../../support/self-signed-certificate.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';

describe('the queue endpoint on a network', function () {
  this.timeout(60_000);
  let queue: QueueProcess;

  before(async () => {
    const folder = await temporaryDirectory();
    const { key, certificate } = await selfSignedCertificate();
    const files = { MILLRACE_TLS_KEY: join(folder, 'key.pem'), MILLRACE_TLS_CERT: join(folder, 'certificate.pem') };
    await writeFile(files.MILLRACE_TLS_KEY, key);
    await writeFile(files.MILLRACE_TLS_CERT, certificate);
    queue = await QueueProcess.start({ ...files, MILLRACE_TRUSTED_PROXIES: '127.0.0.1/32, 10.0.0.0/8' });
  });
  after(() => queue?.stop());

  it('serves TLS and delivers', async () => {
    expect(queue.url).to.match(/^https:/);
    const path = queue.sink.path();
    await queue.publish(queue.sink.url(path), { body: 'b' });
    expect(await queue.sink.call(path)).to.include({ body: 'b' });
  });

  const callers: [string, string | undefined, string][] = [
    ['the peer, without a proxy,', undefined, '127.0.0.1'],
    ['the address in X-Forwarded-For', '203.0.113.7', '203.0.113.7'],
    [
      'the last address in X-Forwarded-For that is not a trusted proxy',
      '1.1.1.1, 203.0.113.7, 10.1.2.3',
      '203.0.113.7',
    ],
  ];
  for (const [who, forwarded, wanted] of callers) {
    it(`takes ${who} as the caller, in records, filters and deliveries`, async () => {
      const path = queue.sink.path();
      const named = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
      await queue.publish(queue.sink.url(path), { headers: named });
      expect((await queue.sink.call(path)).headers).to.include({ 'upstash-caller-ip': wanted });
      const id = await queue.publish(UNREACHABLE, { headers: { ...named, 'Svc-Delay': '1h' } });
      const message = expectAnswer(await queue.get(`/v2/messages/${id}`), 200);
      expect(message).to.include({ callerIP: wanted, callerIp: wanted });
      const cancelled = await queue.delete(`/v2/messages?callerIp=${wanted}`);
      expect(expectAnswer(cancelled, 200)).to.deep.equal({ cancelled: 1 });
    });
  }
});
