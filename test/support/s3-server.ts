/**
 * A real S3 server (s3rver) as a process on loopback, with one bucket in a directory. It answers an upload before the file
 * is written, so a killed one may have an empty file in place of an object that it confirmed. `stop` ends it with SIGTERM:
 * its process exits when all files are written.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import type { Environment } from './millrace-process.js';

const LIBRARY = fileURLToPath(import.meta.resolve('s3rver'));
const PROGRAM = `
  const server = new (require(${JSON.stringify(LIBRARY)}))(JSON.parse(process.argv[1]));
  process.on('SIGTERM', () => server.close(() => undefined));
  server.run();
`;
const BUCKET = 'backups';

export class S3Server {
  #process: ChildProcess | undefined;
  #port = 0;

  /** @param directory the directory of the objects */
  constructor(private readonly directory: string) {}

  /** Starts the server, each time on the same port. */
  async start(): Promise<void> {
    this.#port ||= await freePort();
    const place = { directory: this.directory, address: '127.0.0.1', port: this.#port };
    const options = { ...place, silent: true, configureBuckets: [{ name: BUCKET, configs: [] }] };
    const args = ['--pdeathsig', 'KILL', process.execPath, '-e', PROGRAM, JSON.stringify(options)];
    this.#process = spawn('setpriv', args, { stdio: 'ignore' });
    await eventually(async () => void (await (await fetch(`${this.#url}/${BUCKET}`)).text()));
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  /** The settings with which a process uses the bucket. */
  environment(prefix: string): Environment {
    return {
      MILLRACE_BACKUP_TO: this.place(prefix),
      MILLRACE_BACKUP_S3_ENDPOINT: this.#url,
      // The only key of the server.
      MILLRACE_BACKUP_S3_KEY_ID: 'S3RVER',
      MILLRACE_BACKUP_S3_SECRET: 'S3RVER',
    };
  }

  place(prefix: string): string {
    return `s3://${BUCKET}/${prefix}`;
  }

  /** The file that contains an object. */
  fileOf(key: string): string {
    return join(this.directory, BUCKET, `${key}._S3rver_object`);
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
}
