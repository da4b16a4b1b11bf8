/** The certificate and the key of the endpoints. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readTlsFiles } from '../../../src/adapters/node/index.js';
import { directoryOf } from '../../support/stand-hooks.js';

describe('the files for TLS', () => {
  const folder = directoryOf('each test');

  it('are absent where the settings name none', async () => {
    expect(await readTlsFiles({ tlsCert: undefined, tlsKey: undefined })).to.equal(undefined);
  });

  it('are read unchanged', async () => {
    const [tlsCert, tlsKey] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
    writeFileSync(tlsCert, 'a certificate');
    writeFileSync(tlsKey, 'a key');
    const files = await readTlsFiles({ tlsCert, tlsKey });
    expect([files?.cert.toString(), files?.key.toString()]).to.deep.equal(['a certificate', 'a key']);
  });

  it('are named with their setting when one of them cannot be read', async () => {
    const tlsCert = join(folder.path, 'cert.pem');
    writeFileSync(tlsCert, 'a certificate');
    const tlsKey = join(folder.path, 'key.pem');
    const thrown = await readTlsFiles({ tlsCert, tlsKey }).catch((error: Error) => error);
    expect((thrown as Error).message).to.equal(`MILLRACE_TLS_KEY: cannot read ${tlsKey}`);
  });
});
