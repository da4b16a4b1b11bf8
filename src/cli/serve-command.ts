/** `millrace serve`: runs until a signal ends it in order, or something that cannot be mended ends it at once. */
import { type MadeCredentials, startProcess } from '../composition/index.js';
import { type Environment, loadConfig } from '../config/index.js';
import { isMillraceError } from '../kernel/index.js';

/** @returns the exit code, once the process has let go of everything. @throws MillraceError when it cannot start */
export async function serveCommand(env: Environment, write: (text: string) => void): Promise<number> {
  const { config, warnings } = loadConfig(env);
  const asked = signalled();
  const stopping = new AbortController();
  void asked.then(() => stopping.abort());
  const running = await startProcess(config, warnings, stopping.signal).catch((error: unknown) => {
    exitSoon();
    if (isMillraceError(error, 'SHUTTING_DOWN')) return undefined;
    throw error;
  });
  if (running === undefined) return 0;
  if (running.credentials !== undefined) write(firstStartText(running.credentials, process.stdout.isTTY === true));
  const ended = Promise.race([asked, running.failed]);
  const isReady = await Promise.race([running.ready.then(() => true), ended.then(() => false)]);
  if (isReady) write(`ready ${running.addresses.join(' ')}\n`);
  const why = await ended;
  const wasAsked = why === 'SIGTERM' || why === 'SIGINT';
  if (!wasAsked) process.stderr.write(`millrace: ${why}\n`);
  const isStopped = await within(config.process.shutdownMs, running.stop());
  if (!isStopped) process.stderr.write(`millrace: not everything had ended after ${config.process.shutdownMs} ms\n`);
  exitSoon();
  return wasAsked && isStopped ? 0 : 1;
}

/** Secrets are shown to a person, once; what is not a terminal is a log that others read. */
export function firstStartText({ file, lines }: MadeCredentials, isTerminal: boolean): string {
  if (!isTerminal || lines === '') return `# First start: the credentials are kept in ${file}.\n`;
  return `# First start: these credentials are shown once, and kept in ${file}.\n${lines}\n`;
}

/** A socket or a timer that somebody forgot must not keep a stopped process alive, nor one that could not start. */
function exitSoon(): void {
  setImmediate(() => process.exit());
}

function signalled(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    process.once('SIGINT', () => resolve('SIGINT'));
  });
}

async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}
