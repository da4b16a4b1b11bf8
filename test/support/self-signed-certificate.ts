/** A self-signed certificate for `here.example` and 127.0.0.1, made by openssl. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export async function selfSignedCertificate(): Promise<{ key: string; certificate: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'));
  const files = { key: join(folder, 'key.pem'), certificate: join(folder, 'certificate.pem') };
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=here.example', '-addext', 'subjectAltName=DNS:here.example,IP:127.0.0.1'];
  try {
    await promisify(execFile)('openssl', [...request, ...subject, '-keyout', files.key, '-out', files.certificate]);
    return { key: await readFile(files.key, 'utf8'), certificate: await readFile(files.certificate, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
