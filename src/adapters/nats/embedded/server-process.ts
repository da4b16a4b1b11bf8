/**
 * Starts a nats-server that cannot outlive this process.
 *
 *  SPR1 `setpriv --pdeathsig KILL` makes the kernel end the server the moment we die, however we die. KILL
 *       and not TERM: what the server has acknowledged is written already, and one that takes its time to
 *       end could still have the store open when our successor starts.
 *  SPR2 Should we die before the kernel knows, the wrapper notices that its parent is not us and does not
 *       start the server.
 *  SPR3 Without such a `setpriv` a watcher beside the server reads a pipe that only we hold: when it ends
 *       without a word, we are dead, and the watcher kills the server.
 *  SPR4 The server has a session of its own: a Ctrl-C on the terminal is for us, and we stop it after us.
 *  SPR5 Call `launch` on the main thread only: the kernel looks at the thread that started the child.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { runBounded } from './run-bounded.js';

export type Binding = 'setpriv' | 'pipe';

/** $1 is our pid; the rest is the server's command line. */
const START_IF_PARENT_LIVES = '[ "$PPID" = "$1" ] || exit 70; shift; exec "$@"';
/** The watcher gets descriptor 4, so that the server does not hold its own end of the pipe open. */
const START_WITH_WATCHER =
  'exec 4<&0 </dev/null; (read -r word <&4 || kill -KILL $$) >/dev/null 2>&1 & exec 4<&-; exec "$@"';
/** Said to the watcher when the server has ended by itself. */
const ENDED = 'ended\n';
const PROBE_TIMEOUT_MS = 2000;
/**
 * Processors that the server runs on at once; the other half is for commands. It would take all of them, and pass each
 * message from one to the next: on two a stored message then costs it a third more.
 */
const SERVER_PROCESSORS = Math.max(1, Math.floor(availableParallelism() / 2));
/** So much is kept of what the server printed before it had a log file: enough for a configuration error. */
const KEPT_OUTPUT_BYTES = 4096;

export interface ServerProcess {
  readonly pid: number;
  /** Resolves with a description of how it ended, when it has. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
  signal(signal: NodeJS.Signals): void;
}

/** The best binding this machine has. */
export async function chooseBinding(): Promise<Binding> {
  const works = await runBounded('setpriv', ['--pdeathsig', 'KILL', 'true'], { timeoutMs: PROBE_TIMEOUT_MS }).then(
    (result) => result.exitCode === 0,
    () => false,
  );
  return works ? 'setpriv' : 'pipe';
}

export function launch(binary: string, configPath: string, binding: Binding): ServerProcess {
  const server = [binary, '-c', configPath];
  const [program, args]: [string, string[]] =
    binding === 'setpriv'
      ? ['setpriv', ['--pdeathsig', 'KILL', 'sh', '-c', START_IF_PARENT_LIVES, 'sh', String(process.pid), ...server]]
      : ['sh', ['-c', START_WITH_WATCHER, 'sh', ...server]];
  const child = spawn(program, args, {
    // Nothing of our environment: it may hold secrets, and the server needs none of it.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', GOMAXPROCS: `${SERVER_PROCESSORS}` },
    detached: true,
    stdio: [binding === 'pipe' ? 'pipe' : 'ignore', 'ignore', 'pipe'],
  });
  return supervised(child, program);
}

function supervised(child: ChildProcess, program: string): ServerProcess {
  let output = '';
  let hasEnded = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT_BYTES);
  });
  // A watcher that has gone with its server makes the farewell fail, which is as good.
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => {
      hasEnded = true;
      resolve(`${program} could not be started: ${error.message}`);
    });
    child.once('exit', () => {
      hasEnded = true;
      child.stdin?.end(ENDED);
    });
    // Its last words may come after its end.
    child.once('close', (code, signal) => {
      const lastLine = output.trim().split('\n').at(-1) ?? '';
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      resolve(lastLine === '' ? how : `${how}: ${lastLine}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    hasEnded: () => hasEnded,
    signal: (signal) => void child.kill(signal),
  };
}
