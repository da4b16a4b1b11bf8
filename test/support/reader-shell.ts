/**
 * A shell in which a test runs the commands of a page one after another; later commands see the variables of earlier
 * ones.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { eventually } from './eventually.js';

const END = './memory/ end';
const DEFAULT_TIMEOUT_MS = 20_000;

export class ReaderShell {
  readonly #bash: ChildProcessWithoutNullStreams;
  #output = '';

  /**
   * @param env variables in addition to the test's; undefined removes one. @param within a command that starts the
   * shell, if it must not run directly
   */
  constructor(env: Readonly<Record<string, string | undefined>> = {}, within: readonly string[] = []) {
    const [program = '', ...args] = [...within, 'bash', '--noprofile', '--norc'];
    // A separate process group, so that all child processes end with it.
    this.#bash = spawn(program, args, { env: { ...process.env, ...env }, detached: true });
    this.#bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
    this.#bash.stderr.resume();
  }

  /** @returns the output. @throws with the output if the command does not end in time */
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
