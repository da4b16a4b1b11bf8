/** The certificate and the key of the endpoints. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTlsFiles } from '../../../src/adapters/node/index.js';

describe('the files for TLS', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'millrace-tls-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are absent where the settings name none', async () => {
    expect(await readTlsFiles({ tlsCert: undefined, tlsKey: undefined })).to.equal(undefined);
  });

  it('are read unchanged', async () => {
    const [tlsCert, tlsKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    writeFileSync(tlsCert, 'a certificate');
    writeFileSync(tlsKey, 'a key');
    const files = await readTlsFiles({ tlsCert, tlsKey });
    expect([files?.cert.toString(), files?.key.toString()]).to.deep.equal(['a certificate', 'a key']);
  });

  it('are named with their setting when one of them cannot be read', async () => {
    const tlsCert = join(folder, 'cert.pem');
    writeFileSync(tlsCert, 'a certificate');
    const tlsKey = join(folder, 'key.pem');
    const thrown = await readTlsFiles({ tlsCert, tlsKey }).catch((error: Error) => error);
    expect((thrown as Error).message).to.equal(`MILLRACE_TLS_KEY: cannot read ${tlsKey}`);
  });
});
