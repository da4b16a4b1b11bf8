/** `millrace serve`: runs until a signal stops it in order, or until an unrecoverable failure. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { NatsOpening } from '../adapters/nats/installation/index.js';
import {
  flushCompileCache,
  JsonLog,
  type LineWriter,
  refuseUnusableDirectory,
  removeRunningFile,
  SystemClock,
  streamLines,
  VERSION,
  writeRunningFile,
} from '../adapters/node/index.js';
import type { MadeCredentials, RunningProcess } from '../composition/index.js';
import type { Config, Environment } from '../config/index.js';
import { isMillraceError } from '../kernel/index.js';
import { type Addresses, addressesOf } from './client-variables.js';
import { loadedConfig } from './loaded-config.js';
import { type Colour, paint } from './paint.js';
import type { Output } from './parser.js';
import { answerReload, forgetReloads } from './reload.js';
import type { Supervised } from './supervise.js';

const COLOURS: Readonly<Record<string, Colour>> = { debug: 'grey', info: 'cyan', warn: 'yellow', error: 'red' };

/** Events without a problem that are shown. */
const WORTH_SAYING = new Set(['nats-server.found', 'process.ready']);

const TIME = { begin: 11, end: 19 } as const;

/** Additions of `dev` and `demo`. */
export interface Serving {
  /** The log is for a person. */
  readonly isHuman: boolean;
  /** Opens the console in the browser of this machine. */
  readonly opensConsole?: boolean | undefined;
  /** A directory that is deleted at the end; undefined: data is kept. */
  readonly throwAway?: string;
  /** Called before the ready line. */
  onReady?(addresses: readonly string[]): Promise<void>;
}

/** After this time, resources that are still open are named. */
const SAY_AFTER_MS = 400;
/** As long as loading takes: a longer wait would be no gain. */
const LOADED_AFTER_MS = 100;

/** @returns the exit code, after the process has released all resources. @throws MillraceError if it cannot start */
export async function serveCommand(env: Environment, output: Output, serving: Serving): Promise<number> {
  try {
    return await serve(env, output, serving);
  } finally {
    if (serving.throwAway !== undefined) rmSync(serving.throwAway, { recursive: true, force: true, maxRetries: 5 });
    exitSoon();
  }
}

async function serve(
  env: Environment,
  { write, writeError }: Output,
  { isHuman, opensConsole, throwAway, onReady }: Serving,
) {
  const { config, warnings } = loadedConfig(env);
  await refuseUnusableDirectory(config.storage.dataDir, 'MILLRACE_DATA_DIR');
  if (isHuman) writeError(`millrace ${VERSION}, data in ${config.storage.dataDir}; press Ctrl-C to stop\n`);
  const asked = signalled();
  const stopping = new AbortController();
  void asked.then(() => stopping.abort());
  const begun = begin(config, warnings, isHuman, stopping.signal).catch((error: unknown) => {
    if (isMillraceError(error, 'SHUTTING_DOWN')) return undefined;
    throw error;
  });
  // Some steps of a start cannot be interrupted.
  const hasBegun = begun.then(() => undefined);
  const isInterrupted = asked.then(() => within(config.process.shutdownMs, hasBegun)).then((isInTime) => !isInTime);
  if (await Promise.race([hasBegun.then(() => false), isInterrupted])) {
    writeError(`millrace: the interrupted start did not end within ${config.process.shutdownMs} ms\n`);
    return 1;
  }
  const running = await begun;
  if (running === undefined) return 0;
  if (running.credentials !== undefined && throwAway === undefined) {
    write(firstStartText(running.credentials, process.stdout.isTTY === true));
  }
  const ended = Promise.race([asked, running.failed]);
  const isReady = await Promise.race([running.ready.then(() => true), ended.then(() => false)]);
  if (isReady) {
    await onReady?.(running.addresses).catch(async (error: unknown) => {
      await running.stop();
      throw error;
    });
    const addresses = addressesOf(running.addresses);
    await writeRunningFile(config.storage.dataDir, { addresses, workers: config.sharedBy });
    // `dev` has said it with the credentials.
    const isTold = isHuman && throwAway === undefined;
    tellConsole(addresses, { isTold, opensConsole }, running.credentials?.file, write);
    if ('reload' in running) await hearReloads(running, { config, env, isHuman });
    write(`ready ${running.addresses.join(' ')}\n`);
    flushCompileCache();
  }
  const reason = await ended;
  const wasAsked = reason === 'SIGTERM' || reason === 'SIGINT';
  if (!wasAsked) writeError(`millrace: ${reason}\n`);
  if (isHuman)
    setTimeout(
      () => writeError(`stopping: waiting for ${whatIsLeft()}; press Ctrl-C to stop now\n`),
      SAY_AFTER_MS,
    ).unref();
  const isStopped = await within(config.process.shutdownMs, running.stop());
  await removeRunningFile(config.storage.dataDir);
  if (isHuman && isStopped) writeError(goodbye(config.storage.dataDir, throwAway));
  if (!isStopped) writeError(`millrace: the process did not stop cleanly within ${config.process.shutdownMs} ms\n`);
  return wasAsked && isStopped ? 0 : 1;
}

/** Replaces the workers at each SIGHUP, one call after the other. */
async function hearReloads(
  running: Supervised,
  { config, env, isHuman }: { readonly config: Config; readonly env: Environment; readonly isHuman: boolean },
): Promise<void> {
  const log = logOf(config, isHuman);
  await forgetReloads(config);
  let last = Promise.resolve();
  process.on('SIGHUP', () => {
    last = last.then(() => answerReload({ config, env, log }, (environment) => running.reload(environment)));
  });
}

/**
 * Waits for a step, but not long: while a server is fetched or reads much data, probes need answers, which needs the
 * whole program.
 */
export async function soon(step: Promise<unknown>): Promise<void> {
  await within(
    LOADED_AFTER_MS,
    step.then(() => undefined),
  );
}

/** On a terminal the shutdown is short, unless the setting says otherwise. */
const TERMINAL_SHUTDOWN_MS = '2000';

export function atTerminal(env: Environment): Environment {
  return { ...env, MILLRACE_SHUTDOWN_MS: env.MILLRACE_SHUTDOWN_MS || TERMINAL_SHUTDOWN_MS };
}

/** Starts an embedded nats-server first and loads most of the program in parallel. */
async function begin(
  config: Config,
  warnings: readonly string[],
  isHuman: boolean,
  stopping: AbortSignal,
): Promise<Supervised | RunningProcess> {
  const log = logOf(config, isHuman);
  for (const warning of warnings) log.warn('config.warning', { warning });
  const nats = new NatsOpening(config, log);
  if (config.sharedBy > 1) return (await import('./supervise.js')).superviseWorkers({ config, log, nats }, stopping);
  // Loading blocks the event loop, so it happens while the server needs no attention: data types while it starts, the
  // rest while it creates its streams.
  await soon(nats.launched);
  await import('../domain/kv/index.js');
  await soon(nats.asked);
  const { startProcess } = await import('../composition/index.js');
  return startProcess({ config, log, nats }, stopping);
}

/** Lines have the machine's own time, for comparison with other logs. */
export function logOf({ process: { logLevel: level } }: Config, isHuman: boolean): JsonLog {
  const write = isHuman ? humanLines(process.stderr, level === 'debug') : streamLines(process.stderr);
  return new JsonLog({ level, clock: new SystemClock(), write });
}

/** Resources that keep the process running, as Node counts them. */
function whatIsLeft(): string {
  const counts = new Map<string, number>();
  for (const resource of process.getActiveResourcesInfo()) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  const named = [
    ['TCPSocketWrap', 'connections'],
    ['MessagePort', 'threads'],
    ['ProcessWrap', 'nats-server'],
  ].flatMap(([resource = '', name]) => (counts.has(resource) ? [`${counts.get(resource)} ${name}`] : []));
  return named.length === 0 ? 'the last stored entries' : named.join(', ');
}

/** Prints the console's address, or opens it. @param file of the credentials that the first start generated */
function tellConsole(
  { mgmt }: Addresses,
  { isTold, opensConsole }: { readonly isTold: boolean; readonly opensConsole: boolean | undefined },
  file: string | undefined,
  write: Output['write'],
): void {
  if (mgmt === undefined) return;
  const url = `${mgmt}/console`;
  if (isTold) write(`console ${url}${file === undefined ? '' : `, sign in with the e-mail and key of ${file}`}\n`);
  if (opensConsole !== true) return;
  // A machine without a browser is no error: the address is printed.
  spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
    .on('error', () => write(`console ${url}\n`))
    .unref();
}

function goodbye(dataDir: string, throwAway: string | undefined): string {
  return throwAway === undefined ? `stopped, data kept in ${dataDir}\n` : 'stopped, the data is deleted\n';
}

/** Secrets are shown once, and only on a terminal; other output may be a log with other readers. */
export function firstStartText({ file, lines }: MadeCredentials, isTerminal: boolean): string {
  if (!isTerminal || lines === '') return `# First start: the credentials are stored in ${file}.\n`;
  return `# First start: these credentials are shown once and stored in ${file}.\n${lines}\n`;
}

/** A forgotten socket or timer must not keep a stopped process running, nor one that failed to start. */
export function exitSoon(): void {
  setImmediate(() => process.exit());
}

export function signalled(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    process.once('SIGINT', () => resolve('SIGINT'));
  });
}

export async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}

/** @param tellsAll shows every event, for debugging */
export function humanLines(stream: NodeJS.WriteStream, tellsAll: boolean): LineWriter {
  return (line) => {
    const { time, level, event, ...fields } = JSON.parse(line) as Record<'time' | 'level' | 'event', string>;
    const isTold = tellsAll || level === 'warn' || level === 'error' || WORTH_SAYING.has(event);
    if (isTold) {
      const at = paint(stream, 'grey', time.slice(TIME.begin, TIME.end));
      const words = Object.entries(fields).map(([name, value]) => `${name}=${wordOf(value)}`);
      stream.write(
        `${at} ${paint(stream, COLOURS[level] ?? 'bold', level.padEnd(5))} ${[event, ...words].join(' ')}\n`,
      );
    }
    return true;
  };
}

/**
 * The log for a person at a terminal: problems in colour, and a few facts about the start. Programs read the same log
 * as JSON lines (`adapters/node/json-log.ts`).
 */
function wordOf(value: unknown): string {
  return typeof value === 'string' && /^[\w@%+=:,./-]+$/.test(value) ? value : JSON.stringify(value);
}
