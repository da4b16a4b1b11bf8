/**
 * `millrace reload`: has the supervisor of the data directory replace its workers, and waits for the outcome. The command and
 * the supervisor exchange two private files; SIGHUP is the call. A SIGHUP without a file replaces them with the same settings.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE, readFileIfThere, readRunningFile, writeFileAtomic } from '../adapters/node/index.js';
import type { WorkerEnvironment } from '../adapters/workers/index.js';
import { type Config, type Environment, loadConfig, SETTINGS, Secret } from '../config/index.js';
import { describeError, MillraceError } from '../kernel/index.js';
import type { Log } from '../ports/index.js';
import { FAILED, type Output } from './parser.js';

interface ReloadRequest {
  readonly id: string;
  /** The settings of the command's environment; undefined: those of the supervisor stay. */
  readonly settings?: WorkerEnvironment;
}

interface Outcome {
  readonly id: string;
  readonly refusal?: string;
}

/** Keys of encryption are not written to the file of a request, and stay as they are. */
const KEYS = 'MILLRACE_ENCRYPTION_';
const ASKED = 'reload.json';
const OUTCOME = 'reloaded.json';
const LOOK_EVERY_MS = 100;

/** Settings of the supervisor and its nats-server, by field: a restart changes them. */
function fixedIn({ storage, process, endpoints, signIn, nats }: Config): Readonly<Record<string, unknown>> {
  const { dataDir, sealKeyFile, fsync, kvShards, queueShards } = storage;
  const { workers, heapMb, roles, workerSilenceMs } = process;
  const processes = { workers, heapMb, roles, workerSilenceMs };
  const { host, kvPort, queuePort, mgmtPort, respPort, metricsPort } = endpoints;
  const ports = { kvPort, queuePort, mgmtPort, respPort, metricsPort };
  const shards = { kvShards, queueShards };
  const { metricsToken } = signIn;
  return { dataDir, sealKeyFile, fsync, ...shards, ...processes, host, ...ports, metricsToken, ...nats };
}

/** @param takesSettings  the MILLRACE_* variables of this command replace those of the workers */
export async function reloadCommand(env: Environment, takesSettings: boolean, { write }: Output): Promise<number> {
  const { dataDir } = loadConfig(env).config.storage;
  const running = await readRunningFile(dataDir);
  if (running === undefined)
    throw new MillraceError('NOT_FOUND', `no process runs in ${dataDir}: start one with millrace serve`);
  const { pid, workers } = running;
  if (workers === 1)
    throw new MillraceError('CONFLICT', `process ${pid} has no workers to replace (MILLRACE_WORKERS): restart it`);
  const id = `${process.pid}-${Date.now()}`;
  const asked: ReloadRequest = { id, ...(takesSettings && { settings: settingsIn(env) }) };
  await writeFileAtomic(join(dataDir, ASKED), JSON.stringify(asked), PRIVATE_FILE);
  process.kill(pid, 'SIGHUP');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const outcome = await readJson<Outcome>(join(dataDir, OUTCOME));
    if (outcome?.id === id) {
      if (outcome.refusal !== undefined) throw new MillraceError('CONFLICT', outcome.refusal);
      write('all workers are replaced\n');
      return 0;
    }
    if ((await readRunningFile(dataDir)) === undefined) {
      write('the process ended before its workers were replaced\n');
      return FAILED;
    }
  }
}

/** Handles one SIGHUP in the supervisor. Never rejects. */
export async function answerReload(
  { config, env, log }: { readonly config: Config; readonly env: Environment; readonly log: Log },
  reload: (environment: WorkerEnvironment) => Promise<void>,
): Promise<void> {
  const { dataDir } = config.storage;
  const asked = await readJson<ReloadRequest>(join(dataDir, ASKED));
  await rm(join(dataDir, ASKED), { force: true });
  let refusal: string | undefined;
  log.info('workers.reload', { withSettings: asked?.settings !== undefined });
  try {
    await reload(asked?.settings === undefined ? {} : changedBy(asked.settings, env, config));
    log.info('workers.reloaded');
  } catch (error) {
    refusal = describeError(error);
    log.error('workers.reload-refused', { cause: refusal });
  }
  if (asked === undefined) return;
  const outcome: Outcome = { id: asked.id, ...(refusal !== undefined && { refusal }) };
  await writeFileAtomic(join(dataDir, OUTCOME), JSON.stringify(outcome), PRIVATE_FILE);
}

/** Removes files of interrupted commands. */
export async function forgetReloads({ storage: { dataDir } }: Config): Promise<void> {
  for (const name of [ASKED, OUTCOME]) await rm(join(dataDir, name), { force: true });
}

function settingsIn(env: Environment): WorkerEnvironment {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('MILLRACE_') && !name.startsWith(KEYS));
  return Object.fromEntries(settings.map(([name, value]) => [name, value ?? '']));
}

/** @returns the variables for new workers. @throws BAD_CONFIG for values that are invalid, or need a restart */
function changedBy(settings: WorkerEnvironment, env: Environment, config: Config): WorkerEnvironment {
  const removed = Object.keys(settingsIn(env)).map((name) => [name, ''] as const);
  const asked = settings.MILLRACE_WORKERS || 'auto';
  const workers = asked === 'auto' ? `${config.sharedBy}` : asked;
  const changed = { ...Object.fromEntries(removed), ...settings, MILLRACE_WORKERS: workers };
  // References to secrets are compared, not the secrets: reading them could take seconds, and each worker reads them.
  const [running, wanted] = [env, changed].map((one) => fixedIn(loadConfig(one).config));
  const others = SETTINGS.filter(({ field }) => comparable(wanted?.[field]) !== comparable(running?.[field]));
  if (others.length > 0) {
    const names = others.map(({ variable }) => variable).join(', ');
    throw new MillraceError(
      'BAD_CONFIG',
      `another value of ${names} needs a restart of the whole process: the workers stay as they are`,
    );
  }
  return changed;
}

/** Secrets print as asterisks. */
function comparable(value: unknown): string {
  return value instanceof Secret ? value.reveal() : JSON.stringify(value ?? null);
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const found = await readFileIfThere(path);
  return found === undefined ? undefined : (JSON.parse(found.toString()) as T);
}
