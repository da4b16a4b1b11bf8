/**
 * Starts a nats-server that cannot outlive this process.
 *
 *  SPR1 `setpriv --pdeathsig KILL` makes the kernel end the server as soon as this process dies, by any cause. KILL
 *       instead of TERM: acknowledged writes are already stored, and a server that ends slowly could still have the
 *       store open when the next process starts.
 *  SPR2 If this process dies before the kernel has the setting, the wrapper sees another parent and does not
 *       start the server.
 *  SPR3 Without such a `setpriv`, a watcher process reads a pipe that only this process holds. If the pipe ends
 *       without a message, this process has died, and the watcher kills the server.
 *  SPR4 The server has a separate session: a Ctrl-C on the terminal reaches only this process, which then stops the server.
 *  SPR5 Call `launch` on the main thread only: the kernel looks at the thread that started the child.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { runBounded } from './run-bounded.js';

export type Binding = 'setpriv' | 'pipe';

/** $1 is the pid of this process; the rest is the server's command line. */
const START_IF_PARENT_LIVES = '[ "$PPID" = "$1" ] || exit 70; shift; exec "$@"';
/** The watcher gets descriptor 4, so that the server does not keep the pipe open. */
const START_WITH_WATCHER =
  'exec 4<&0 </dev/null; (read -r word <&4 || kill -KILL $$) >/dev/null 2>&1 & exec 4<&-; exec "$@"';
/** The message to the watcher after the server has ended. */
const ENDED = 'ended\n';
const PROBE_TIMEOUT_MS = 2000;
/**
 * The server's limit of processors; the other half is for commands. Without a limit it would use all of them and pass
 * each message between them: with two processors a stored message then costs a third more.
 */
const SERVER_PROCESSORS = Math.max(1, Math.floor(availableParallelism() / 2));
/** The kept bytes of the output before the server has a log file: enough for a configuration error. */
const KEPT_OUTPUT_BYTES = 4096;

export interface ServerProcess {
  readonly pid: number;
  /** Resolves with a description of its end. */
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

export function launch(
  binary: string,
  configPath: string,
  binding: Binding,
  environment: Readonly<Record<string, string>> = {},
): ServerProcess {
  const server = [binary, '-c', configPath];
  const [program, args]: [string, string[]] =
    binding === 'setpriv'
      ? ['setpriv', ['--pdeathsig', 'KILL', 'sh', '-c', START_IF_PARENT_LIVES, 'sh', String(process.pid), ...server]]
      : ['sh', ['-c', START_WITH_WATCHER, 'sh', ...server]];
  const child = spawn(program, args, {
    // This process's own environment may contain secrets, and the server needs none of its variables.
    env: { ...environment, PATH: process.env.PATH ?? '/usr/bin:/bin', GOMAXPROCS: `${SERVER_PROCESSORS}` },
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
  // If the watcher has ended with its server, the write fails, and no message is needed.
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
    // Its last output may arrive after its end.
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
