/** The test's side of an attacker's process, which runs attack-program.ts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Order, Report } from './attack-program.js';
import type { Scene } from './attacker.js';

const PROGRAM = fileURLToPath(new URL('attack-program.js', import.meta.url));
const RUNNER = ['--pdeathsig', 'KILL', 'nice', '-n', '5', process.execPath, '--enable-source-maps', PROGRAM];

export class AttackProcess {
  #settle: ((report: Report) => void) | undefined;
  #onEnd: (error: Error) => void = () => undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly waitForSteadyTenant: (answers: number) => Promise<void>,
  ) {
    child.on('message', (report: Report) => this.#receive(report));
    child.once('exit', (code, signal) => this.#onEnd(new Error(`the attacker ended with ${code ?? signal}`)));
  }

  static start(waitForSteadyTenant: (answers: number) => Promise<void>): AttackProcess {
    const child = spawn('setpriv', RUNNER, {
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    return new AttackProcess(child, waitForSteadyTenant);
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
      this.#onEnd = reject;
      this.#settle = (report) => {
        if (report.is !== 'done') return;
        if (report.error === undefined) resolve();
        else reject(new Error(report.error));
      };
      this.child.send(order);
    });
  }

  #receive(report: Report): void {
    if (report.is === 'waiting') {
      this.waitForSteadyTenant(report.answers).then(
        () => this.child.connected && this.child.send({ do: 'go-on' } satisfies Order),
        (error: Error) => this.#onEnd(error),
      );
      return;
    }
    this.#settle?.(report);
  }
}
