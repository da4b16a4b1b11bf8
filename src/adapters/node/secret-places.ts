/**
 * Reads secrets from the places that settings name: a file, another variable of the environment, or the output of a
 * command, for example of a key service. One line end at the end of the text is removed, as editors and commands add it.
 * Also reads the certificate of the endpoints with its key.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Config, SecretReference } from '../../config/index.js';
import { MillraceError } from '../../kernel/index.js';

/** More than any secret; a wrong path could name a file of any size. */
const MAX_BYTES = 64 * 1024;
/** A key service in another region answers within two seconds; a start must not wait forever. */
const COMMAND_MS = 10_000;

type CommandFailure = NodeJS.ErrnoException & { readonly status?: number | null };

/** @throws Error with the reason, without any text of the secret */
export function readSecret({ kind, place }: SecretReference, commandMs = COMMAND_MS): string {
  switch (kind) {
    case 'file':
      return withoutLineEnd(readBounded(place));
    case 'env': {
      const text = process.env[place];
      if (text === undefined || text === '') throw new Error(`the variable ${place} is not set`);
      return text;
    }
    default:
      return withoutLineEnd(outputOf(place, commandMs));
  }
}

function readBounded(path: string): string {
  if (statSync(path).size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path, 'utf8');
}

/** The errors of the command go to the standard error of this process. */
function outputOf(commandLine: string, timeout: number): string {
  try {
    return execFileSync('/bin/sh', ['-c', commandLine], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout,
      killSignal: 'SIGKILL',
      maxBuffer: MAX_BYTES,
    });
  } catch (error) {
    throw new Error(`the command ${reasonOf(error as CommandFailure, timeout)}`);
  }
}

function reasonOf({ code, status }: CommandFailure, timeout: number): string {
  if (code === 'ETIMEDOUT') return `did not end within ${timeout} ms`;
  if (code === 'ENOBUFS') return `printed more than ${MAX_BYTES} bytes`;
  return typeof status === 'number' ? `ended with exit code ${status}` : `could not be run: ${code}`;
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

/** The certificate and the key of the endpoints. */
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
