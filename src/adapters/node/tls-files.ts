/** The certificate and the key of the endpoints. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../../config/index.js';
import { MillraceError } from '../../kernel/index.js';

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @returns undefined when the settings name none. @throws BAD_CONFIG with the setting and the unreadable file */
export async function readTlsFiles({
  tlsCert,
  tlsKey,
}: Pick<Config['endpoints'], 'tlsCert' | 'tlsKey'>): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const [cert, key] = await Promise.all([fileOf(tlsCert, 'MILLRACE_TLS_CERT'), fileOf(tlsKey, 'MILLRACE_TLS_KEY')]);
  return { cert, key };
}

async function fileOf(path: string, variable: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `${variable}: cannot read ${path}`, {}, cause);
  }
}
