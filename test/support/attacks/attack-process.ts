/** The test's side of an attacker's process, which runs attack-program.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './attack-program.js';
import type { Scene } from './attacker.js';

const PROGRAM = fileURLToPath(new URL('attack-program.js', import.meta.url));
const RUNNER = ['--pdeathsig', 'KILL', 'nice', '-n', '5', process.execPath, '--enable-source-maps', PROGRAM];

export class AttackProcess {
  #settle: ((report: Report) => void) | undefined;
  #whenOver: (error: Error) => void = () => undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly othersGoOn: (answers: number) => Promise<void>,
  ) {
    child.on('message', (report: Report) => this.#hear(report));
    child.once('exit', (code, signal) => this.#whenOver(new Error(`the attacker ended with ${code ?? signal}`)));
  }

  static start(othersGoOn: (answers: number) => Promise<void>): AttackProcess {
    const child = spawn('setpriv', RUNNER, {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    return new AttackProcess(child, othersGoOn);
  }

  /**
   * @throws the error of the attack, for example because the server did not refuse it or refused it without a clear
   * error
   */
  run(title: string, scene: Scene): Promise<void> {
    return this.#ask({ do: 'run', title, scene });
  }

  undo(): Promise<void> {
    return this.#ask({ do: 'undo' });
  }

  /** Kills the process, which also closes its connections. */
  async end(): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGKILL');
    });
  }

  #ask(order: Order): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#whenOver = reject;
      this.#settle = (report) => {
        if (report.is !== 'done') return;
        if (report.error === undefined) resolve();
        else reject(new Error(report.error));
      };
      this.child.send(order);
    });
  }

  #hear(report: Report): void {
    if (report.is === 'waiting') {
      this.othersGoOn(report.answers).then(
        () => this.child.connected && this.child.send({ do: 'go-on' } satisfies Order),
        (error: Error) => this.#whenOver(error),
      );
      return;
    }
    this.#settle?.(report);
  }
}
