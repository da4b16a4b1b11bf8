/** A shell into which a test types the commands of a page, one after the other: what one sets, the next ones have. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { eventually } from './eventually.js';

const END = './memory/ end';
const DEFAULT_TIMEOUT_MS = 20_000;

export class ReaderShell {
  readonly #bash: ChildProcessWithoutNullStreams;
  #output = '';

  /** @param env beside the test's own; undefined takes one away. @param within what the shell is started by, if it is not to run right here */
  constructor(env: Readonly<Record<string, string | undefined>> = {}, within: readonly string[] = []) {
    const [program = '', ...args] = [...within, 'bash', '--noprofile', '--norc'];
    // A group of its own, so that it ends with all that it began.
    this.#bash = spawn(program, args, { env: { ...process.env, ...env }, detached: true });
    this.#bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.#bash.stderr.resume();
  }

  /** @returns what it printed. @throws with that, when it does not end in time */
  async run(command: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<string> {
    this.#output = '';
    this.#bash.stdin.write(`${command}\necho '${END}'\n`);
    const ended = () => {
      if (!this.#output.includes(END)) throw new Error(`${command} has printed ${this.#output}`);
    };
    await eventually(ended, { timeoutMs });
    return this.#output.slice(0, this.#output.indexOf(END));
  }

  end(): void {
    const { pid, exitCode, signalCode } = this.#bash;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  }
}
