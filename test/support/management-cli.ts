/**
 * The published, unmodified command line for the management API. A preloaded module replaces its fixed host by a test
 * server.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The fixed host of the package. */
const HOST = 'https://api.upstash.com';
const PACKAGE = dirname(createRequire(import.meta.url).resolve('@upstash/cli/package.json'));
const TIMEOUT_MS = 120_000;

/** Wraps only `fetch`, and changes no other URL. */
const PRELOAD = `
const plain = globalThis.fetch;
globalThis.fetch = (url, options) => plain(String(url).replace('${HOST}', process.env.TEST_MANAGEMENT_URL), options);
`;

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class ManagementCli {
  private constructor(
    private readonly preload: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** @param folder the folder of the preloaded module; saved credentials are not read from it */
  static async for(folder: string, url: string, email: string, key: string): Promise<ManagementCli> {
    const preload = join(folder, 'turn-host.mjs');
    await writeFile(preload, PRELOAD);
    const env = { UPSTASH_EMAIL: email, UPSTASH_API_KEY: key, TEST_MANAGEMENT_URL: url, HOME: folder };
    return new ManagementCli(preload, { ...env, PATH: process.env.PATH ?? '' });
  }

  /** The same command line with another key. */
  as(email: string, key: string): ManagementCli {
    return new ManagementCli(this.preload, { ...this.env, UPSTASH_EMAIL: email, UPSTASH_API_KEY: key });
  }

  run(...words: readonly string[]): Promise<CliResult> {
    const args = ['--import', this.preload, join(PACKAGE, 'dist/cli.js'), ...words];
    const options = { env: this.env, cwd: this.env.HOME ?? '/', timeout: TIMEOUT_MS };
    return new Promise((done) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
      });
    });
  }

  /** The output of a command as JSON. @throws if it fails */
  async json(...words: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await this.run(...words);
    if (code !== 0) throw new Error(`${words.join(' ')}: ${code} ${stderr}`);
    return JSON.parse(stdout);
  }

  /** The error text of a refused command. @throws if it succeeds */
  async refusal(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    if (code === 0) throw new Error(`${words.join(' ')} was not refused: ${stdout}`);
    return (JSON.parse(stderr) as { error: string }).error;
  }
}
