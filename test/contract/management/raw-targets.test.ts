import { expect } from 'chai';
import { ManagementHarness } from '../../support/management-endpoint.js';
import { rawExchange } from '../../support/raw-exchange.js';

describe('management API: UTF-8 in a request target', () => {
  it('GET /v2/kv/database/:id reads raw UTF-8 as if it were percent-encoded (PLC5)', async () => {
    const face = await new ManagementHarness().start();
    const { email, key } = face.owner;
    const credentials = Buffer.from(`${email}:${key}`).toString('base64');
    const ask = (path: string) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${credentials}\r\nConnection: close\r\n\r\n`;
      return rawExchange(Number(new URL(face.url).port), Buffer.from(request));
    };
    const [raw, encoded] = [await ask('/v2/kv/database/é'), await ask('/v2/kv/database/%C3%A9')];
    await face.stop();
    expect(raw).to.match(/^HTTP\/1\.1 404 /);
    const plainly = (answer: string) => answer.replace(/^Date: .*$/m, '');
    expect(plainly(raw)).to.equal(plainly(encoded));
  });
});
