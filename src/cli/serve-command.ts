/** `millrace serve`: runs until a signal ends it in order, or something that cannot be mended ends it at once. */
import { rmSync } from 'node:fs';
import { NatsOpening } from '../adapters/nats/installation/index.js';
import {
  JsonLog,
  keepCompiledCode,
  refuseUnusableDirectory,
  SystemClock,
  streamLines,
  VERSION,
} from '../adapters/node/index.js';
import type { MadeCredentials } from '../composition/index.js';
import { type Config, type Environment, loadConfig } from '../config/index.js';
import { isMillraceError } from '../kernel/index.js';
import { humanLines } from './human-lines.js';
import type { Output } from './parser.js';

/** What is done beside serving, by `dev` and `demo`. */
export interface Serving {
  /** A person reads along: the log is for a person. */
  readonly isHuman: boolean;
  /** Where data is thrown away at the end; undefined: it is kept. */
  readonly throwAway?: string;
  /** Before the ready line. */
  onReady?(addresses: readonly string[]): Promise<void>;
}

/** What has not ended by then is named. */
const SAY_AFTER_MS = 400;
/** As long as loading takes: whoever waited longer would have gained nothing. */
const LOADED_AFTER_MS = 100;

/** @returns the exit code, once the process has let go of everything. @throws MillraceError when it cannot start */
export async function serveCommand(env: Environment, output: Output, serving: Serving): Promise<number> {
  try {
    return await serve(env, output, serving);
  } finally {
    if (serving.throwAway !== undefined) rmSync(serving.throwAway, { recursive: true, force: true, maxRetries: 5 });
    exitSoon();
  }
}

async function serve(env: Environment, { write, writeError }: Output, { isHuman, throwAway, onReady }: Serving) {
  const { config, warnings } = loadConfig(env);
  await refuseUnusableDirectory(config.storage.dataDir, 'MILLRACE_DATA_DIR');
  if (isHuman) writeError(`millrace ${VERSION}, data in ${config.storage.dataDir}; Ctrl-C ends it\n`);
  const asked = signalled();
  const stopping = new AbortController();
  void asked.then(() => stopping.abort());
  const running = await begin(config, warnings, isHuman, stopping.signal).catch((error: unknown) => {
    if (isMillraceError(error, 'SHUTTING_DOWN')) return undefined;
    throw error;
  });
  if (running === undefined) return 0;
  if (running.credentials !== undefined && throwAway === undefined) {
    write(firstStartText(running.credentials, process.stdout.isTTY === true));
  }
  const ended = Promise.race([asked, running.failed]);
  let keeping = Promise.resolve();
  const isReady = await Promise.race([running.ready.then(() => true), ended.then(() => false)]);
  if (isReady) {
    await onReady?.(running.addresses).catch(async (error: unknown) => {
      await running.stop();
      throw error;
    });
    write(`ready ${running.addresses.join(' ')}\n`);
    keeping = keepCompiledCode();
  }
  const why = await ended;
  const wasAsked = why === 'SIGTERM' || why === 'SIGINT';
  if (!wasAsked) writeError(`millrace: ${why}\n`);
  if (isHuman)
    setTimeout(() => writeError(`ending: waiting for ${whatIsLeft()}; Ctrl-C ends it at once\n`), SAY_AFTER_MS).unref();
  const isStopped = await within(config.process.shutdownMs, running.stop());
  // It was begun long ago, unless the process was to end as soon as it was ready.
  await keeping;
  if (!isStopped) writeError(`millrace: not everything had ended after ${config.process.shutdownMs} ms\n`);
  return wasAsked && isStopped ? 0 : 1;
}

/** Of a server that has to be fetched, or has much to read, probes are to be told meanwhile: that takes the whole program. */
async function soon(step: Promise<unknown>): Promise<void> {
  await within(
    LOADED_AFTER_MS,
    step.then(() => undefined),
  );
}

/** On a terminal nobody waits longer for an end, unless the setting says so. */
const TERMINAL_SHUTDOWN_MS = '2000';

export function atTerminal(env: Environment): Environment {
  return { ...env, MILLRACE_SHUTDOWN_MS: env.MILLRACE_SHUTDOWN_MS || TERMINAL_SHUTDOWN_MS };
}

/** A nats-server of our own starts first, and the larger part of the program is loaded meanwhile. */
async function begin(config: Config, warnings: readonly string[], isHuman: boolean, stopping: AbortSignal) {
  const log = logOf(config, isHuman);
  for (const warning of warnings) log.warn('config.warning', { warning });
  const nats = new NatsOpening(config, log);
  // Loading holds the loop. So it is done while the server has no need of it: the types of data while it starts, and all
  // else while it makes its streams.
  await soon(nats.launched);
  await import('../domain/kv/index.js');
  await soon(nats.asked);
  const { startProcess } = await import('../composition/index.js');
  return startProcess({ config, log, nats }, stopping);
}

/** Its lines bear the machine's own time, so that they can be laid beside those of others. */
function logOf({ process: { logLevel: level } }: Config, isHuman: boolean): JsonLog {
  const write = isHuman ? humanLines(process.stderr, level === 'debug') : streamLines(process.stderr);
  return new JsonLog({ level, clock: new SystemClock(), write });
}

/** What keeps the process from ending, as Node counts it. */
function whatIsLeft(): string {
  const counts = new Map<string, number>();
  for (const resource of process.getActiveResourcesInfo()) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  const named = [
    ['TCPSocketWrap', 'connections'],
    ['MessagePort', 'threads'],
    ['ProcessWrap', 'nats-server'],
  ].flatMap(([resource = '', name]) => (counts.has(resource) ? [`${counts.get(resource)} ${name}`] : []));
  return named.length === 0 ? 'what was stored last' : named.join(', ');
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
