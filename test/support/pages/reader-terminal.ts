/** A second terminal of a page. Its program runs until the page ends. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { eventually } from '../eventually.js';

/** A server of Next.js and a cold start of the process take longest. */
const READY_TIMEOUT_MS = 120_000;

export class ReaderTerminal {
  readonly #bash: ChildProcessWithoutNullStreams;
  #printed = '';

  constructor(
    private readonly text: string,
    cwd: string,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    // A separate process group, so that all child processes end with it.
    this.#bash = spawn('setpriv', ['--pdeathsig', 'KILL', 'bash', '--noprofile', '--norc', '-c', text], {
      cwd,
      env: { ...process.env, ...env },
      detached: true,
    });
    for (const stream of [this.#bash.stdout, this.#bash.stderr]) {
      stream.setEncoding('utf8').on('data', (printed: string) => {
        this.#printed += printed;
      });
    }
  }

  get printed(): string {
    return this.#printed;
  }

  /** Waits until the program has printed this and accepts connections at the addresses in the text. */
  async isReady(prints: RegExp | undefined): Promise<void> {
    if (prints !== undefined) await this.prints(prints, READY_TIMEOUT_MS);
    const [, port] = /\.listen\((\d+)/.exec(this.text) ?? [];
    if (port !== undefined) await eventually(() => accepts(Number(port)), { timeoutMs: READY_TIMEOUT_MS });
  }

  prints(text: RegExp, timeoutMs: number): Promise<void> {
    return eventually(
      () => {
        if (text.test(this.#printed)) return;
        throw new Error(`a terminal has printed\n${this.#printed}\nand not ${text}`);
      },
      { timeoutMs },
    );
  }

  interrupted(): Promise<void> {
    return this.#gone('SIGINT');
  }

  end(): Promise<void> {
    return this.#gone('SIGKILL');
  }

  async #gone(signal: NodeJS.Signals): Promise<void> {
    if (this.#bash.exitCode !== null || this.#bash.signalCode !== null) return;
    const gone = new Promise((done) => this.#bash.once('exit', done));
    try {
      process.kill(-(this.#bash.pid as number), signal);
    } catch (error) {
      // The process has ended, and its exit event has not arrived yet.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await gone;
  }
}

function accepts(port: number): Promise<void> {
  return new Promise((accepted, refused) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      accepted();
    });
    socket.once('error', refused);
  });
}
