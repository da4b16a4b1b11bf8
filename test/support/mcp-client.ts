/** The published, unmodified MCP server, used over stdio as an assistant's program does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('@upstash/mcp-server/package.json'));
const PROTOCOL = '2025-06-18';

export interface ToolAnswer {
  readonly isError: boolean;
  /** The texts of the result, in order. */
  readonly texts: readonly string[];
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export class McpClient {
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #said: string[] = [];
  #calls = 0;

  private constructor(private readonly child: ChildProcess) {
    const { stdin, stdout, stderr } = child;
    if (stdin === null || stdout === null || stderr === null) throw new Error('the program has no pipes');
    stdin.on('error', () => {});
    createInterface({ input: stdout }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line) as Answer & { id?: number };
      if (id !== undefined) this.#take(id, answer);
    });
    createInterface({ input: stderr }).on('line', (line) => this.#said.push(line));
    child.once('close', (code) => {
      const error = { message: `the program ended with ${code}: ${this.#said.slice(-5).join('\n')}` };
      for (const id of [...this.#waiting.keys()]) this.#take(id, { error });
    });
  }

  /**
   * @param turnHosts the preloaded module; @param folder the folder of that module. @throws if the server does not
   * start
   */
  static async start(folder: string, turnHosts: string, email: string, key: string): Promise<McpClient> {
    const ahead = join(folder, 'turn-hosts.mjs');
    await writeFile(ahead, turnHosts);
    const env = { PATH: process.env.PATH ?? '', HOME: folder, UPSTASH_EMAIL: email, UPSTASH_API_KEY: key };
    const args = ['--import', ahead, join(PACKAGE, 'dist/index.js')];
    const client = new McpClient(spawn(process.execPath, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] }));
    const clientInfo = { name: 'tests', version: '1.0.0' };
    await client.#ask('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo });
    client.#send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  async tools(): Promise<string[]> {
    const { tools } = (await this.#ask('tools/list', {})) as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  }

  async call(name: string, args: object = {}): Promise<ToolAnswer> {
    const answer = await this.#ask('tools/call', { name, arguments: args });
    const { content, isError = false } = answer as { content: { text: string }[]; isError?: boolean };
    return { isError, texts: content.map(({ text }) => text) };
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((done) => this.child.once('close', done));
    this.child.kill();
    await ended;
  }

  #ask(method: string, params: object): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    const answered = new Promise<Answer>((done) => this.#waiting.set(id, done));
    this.#send({ jsonrpc: '2.0', id, method, params });
    return answered.then(({ result, error }) => {
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    });
  }

  #send(message: object): void {
    this.child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #take(id: number, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
    this.#waiting.delete(id);
  }
}
