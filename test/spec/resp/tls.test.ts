import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { expect } from 'chai';
import { PASSWORD, RawClient, RespEndpointHarness } from '../../support/resp-endpoint.js';

describe('RESP: TLS', () => {
  it('accepts clients that use it, and no others', async function () {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-resp-tls-'));
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name)) as [string, string];
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    const made = spawnSync('openssl', [...request, '-subj', '/CN=localhost', '-keyout', key, '-out', cert]);
    if (made.status !== 0) this.skip();
    const face = await new RespEndpointHarness({ tls: { key: readFileSync(key), cert: readFileSync(cert) } }).start();
    try {
      const socket = tls.connect({
        port: face.port,
        host: '127.0.0.1',
        ca: readFileSync(cert),
        servername: 'localhost',
      });
      const answer = new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
      socket.write(`AUTH ${PASSWORD}\r\n`);
      expect(await answer).to.equal('+OK\r\n');
      socket.destroy();
      const plain = await RawClient.connect(face.port);
      plain.send('PING\r\n');
      await plain.closed();
      expect(plain.unread.join('')).not.to.contain('PONG');
    } finally {
      await face.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
