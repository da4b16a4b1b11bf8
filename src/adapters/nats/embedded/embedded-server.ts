/**
 * The nats-server that this process starts, watches and stops: the default when no NATS is configured.
 *
 *  EM1 One server per data directory. The caller holds the directory's lock (`lockDataDir`), and a server
 *      of an earlier run is ended before a new one starts.
 *  EM2 It does not outlive this process (see server-process.ts).
 *  EM3 When it dies unexpectedly it is started again on the same port with the same credentials, so that
 *      clients simply reconnect. When that happens too often, `onGiveUp` is called once, and no further start
 *      follows.
 *  EM4 `stop` ends it for good. The connections of this process must be drained before, because `stop` does not wait.
 *
 * `<data dir>/nats/` has the configuration, the store, the log, `server.json` (the running server) and
 * `client.json` (its address and credentials, for the command line). Only the user of this process can read them.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describeError, MillraceError } from '../../../kernel/index.js';
import type { Log } from '../../../ports/index.js';
import { compareVersions } from '../versions.js';
import { lastComplaint, removeOldLogs, sizeOf } from './log-files.js';
import { endOrphan, recordServer } from './orphan.js';
import { writePrivateFile } from './private-file.js';
import { waitUntilReady } from './readiness.js';
import {
  type Credentials,
  DEFAULT_MAX_PAYLOAD_BYTES,
  makeCredentials,
  renderServerConfig,
  type ServerConfig,
  STORE_KEY_VARIABLE,
} from './server-config.js';
import { type Binding, chooseBinding, launch, type ServerProcess } from './server-process.js';
import { knowsSyncAlways } from './server-version.js';

export interface EmbeddedServerOptions {
  /** The result of `findNatsServer`. */
  readonly binary: string;
  readonly version: string;
  readonly dataDir: string;
  readonly log: Log;
  /** Called once, with one line, when the server cannot be kept running. The process should end. */
  readonly onGiveUp: (reason: string) => void;
  /** Whether a write is on disk before it is acknowledged (`always`, if the server supports it) or soon after. */
  readonly fsync?: 'always' | 'interval';
  /** Aborted while it starts: it is ended again. */
  readonly unneeded?: AbortSignal;
  /** Called when the process runs, long before the server is usable. */
  readonly onLaunch?: () => void;
  /** Hexadecimal; encrypts the store. A store is encrypted from its first start, or never. */
  readonly storeKey?: string | undefined;
  readonly maxPayloadBytes?: number;
  readonly binding?: Binding;
  readonly limits?: Partial<EmbeddedLimits>;
}

interface EmbeddedLimits {
  /** Until the store is read; a large one takes a while. */
  readonly startTimeoutMs: number;
  /** Between asking the server to end and ending it. */
  readonly stopTimeoutMs: number;
  /** The number of restarts within the window; one more, and the server is given up. */
  readonly restarts: number;
  readonly restartWindowMs: number;
  /** Before the first restart; doubled for each further one within the window. */
  readonly firstBackoffMs: number;
  readonly longestBackoffMs: number;
}

const EMBEDDED_LIMITS: EmbeddedLimits = {
  startTimeoutMs: 120_000,
  stopTimeoutMs: 4000,
  restarts: 5,
  restartWindowMs: 60_000,
  firstBackoffMs: 100,
  longestBackoffMs: 5000,
};

/** Tries in case another program takes the free port in between, which is rare. */
const PORT_TRIES = 5;

export interface EmbeddedServer {
  /** Without credentials. */
  readonly url: string;
  readonly credentials: Credentials;
  readonly sysCredentials: Credentials;
  readonly version: string;
  /** Whether every write is durable before it is acknowledged. */
  readonly hasSyncAlways: boolean;
  /** The process id of the running server, or of the last one. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws MillraceError JOURNAL_UNAVAILABLE when it does not start, CONFLICT when an orphan does not end */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const dir = join(resolve(options.dataDir), 'nats');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const [binding, freeOne] = await Promise.all([
    options.binding ?? chooseBinding(),
    freePort(),
    endOrphan(join(dir, 'server.json'), options.log),
    noteStoreVersion(join(dir, 'store-version'), options.version, options.log),
  ]);
  let failure = '';
  for (let attempt = 0; attempt < PORT_TRIES; attempt += 1) {
    const port = attempt === 0 ? freeOne : await freePort();
    const server = new SupervisedServer(options, dir, binding, port);
    try {
      await server.start();
      return server;
    } catch (error) {
      failure = describeError(error);
      if (!failure.includes('address already in use')) break;
    }
  }
  const message = `nats-server ${options.version} did not start: ${failure}; its log is ${join(dir, 'nats.log')}`;
  throw new MillraceError('JOURNAL_UNAVAILABLE', message);
}

class SupervisedServer implements EmbeddedServer {
  readonly url: string;
  readonly credentials = makeCredentials('millrace');
  readonly sysCredentials = makeCredentials('millrace-sys');
  readonly version: string;
  readonly hasSyncAlways: boolean;
  pid = 0;

  readonly #config: ServerConfig;
  readonly #limits: EmbeddedLimits;
  readonly #stopping = new AbortController();
  #process: ServerProcess | undefined;
  #supervision: Promise<void> = Promise.resolve();

  constructor(
    private readonly options: EmbeddedServerOptions,
    private readonly dir: string,
    private readonly binding: Binding,
    private readonly port: number,
  ) {
    const fsync = options.fsync ?? 'always';
    this.url = `nats://127.0.0.1:${port}`;
    this.version = options.version;
    this.hasSyncAlways = fsync === 'always' && knowsSyncAlways(options.version);
    this.#limits = { ...EMBEDDED_LIMITS, ...options.limits };
    this.#config = {
      version: options.version,
      port,
      storeDir: join(dir, 'store'),
      logPath: join(dir, 'nats.log'),
      fsync,
      isEncrypted: options.storeKey !== undefined,
      maxPayloadBytes: options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES,
      app: this.credentials,
      system: this.sysCredentials,
    };
  }

  async start(): Promise<void> {
    const { log, version, binary } = this.options;
    await writePrivateFile(this.#path('nats.conf'), renderServerConfig(this.#config), false);
    const running = await this.#launch();
    await writePrivateFile(this.#path('client.json'), `${JSON.stringify(this.#clientFile())}\n`, false);
    log.info('nats-server.started', { pid: running.pid, version, url: this.url, binary, binding: this.binding });
    if (!knowsSyncAlways(version)) {
      log.warn('nats-server.no-fsync', {
        version,
        message: 'this version survives the crash of a process but not a power failure; 2.10 and newer can',
      });
    }
    this.#supervision = this.#supervise(running);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const running = this.#process;
    if (running !== undefined && !running.hasEnded()) await this.#end(running);
    await this.#supervision;
    await rm(this.#path('client.json'), { force: true });
    await rm(this.#path('server.json'), { force: true });
  }

  /** Starts the server and returns when it is usable; otherwise ends it. */
  async #launch(): Promise<ServerProcess> {
    const { logPath } = this.#config;
    await removeOldLogs(logPath);
    const logBytes = await sizeOf(logPath);
    // No `await` from here to the assignment: `stop` must see every running server.
    if (this.#stopping.signal.aborted) throw new Error('stopping');
    const configPath = this.#path('nats.conf');
    const { storeKey } = this.options;
    // Quoted, because the server reads the variable as a part of its configuration.
    const environment = storeKey === undefined ? {} : { [STORE_KEY_VARIABLE]: `"${storeKey}"` };
    const running = launch(this.options.binary, configPath, this.binding, environment);
    this.#process = running;
    this.pid = running.pid;
    this.options.onLaunch?.();
    try {
      const { binary, version } = this.options;
      const { pid } = running;
      const isGone = () => running.hasEnded() || this.options.unneeded?.aborted === true;
      await Promise.all([
        recordServer(this.#path('server.json'), { pid, configPath, binary, version, port: this.port }),
        waitUntilReady(this.url, this.credentials, isGone, this.#limits.startTimeoutMs),
      ]);
    } catch (error) {
      const cause = running.hasEnded() ? await running.ended : describeError(error);
      await this.#end(running);
      throw new Error((await lastComplaint(logPath, logBytes)) ?? cause);
    }
    return running;
  }

  /** EM3: until `stop` is called, each end is followed by a start. */
  async #supervise(first: ServerProcess): Promise<void> {
    const restartsAtMs: number[] = [];
    let cause = await first.ended;
    while (!this.#stopping.signal.aborted) {
      const nowMs = performance.now();
      while (restartsAtMs[0] !== undefined && restartsAtMs[0] < nowMs - this.#limits.restartWindowMs)
        restartsAtMs.shift();
      if (restartsAtMs.length >= this.#limits.restarts) return this.#giveUp(restartsAtMs.length, cause);
      const backoffMs = Math.min(this.#limits.firstBackoffMs * 2 ** restartsAtMs.length, this.#limits.longestBackoffMs);
      restartsAtMs.push(nowMs);
      this.options.log.error('nats-server.died', { reason: cause, restart: restartsAtMs.length, backoffMs });
      await this.#pause(backoffMs);
      if (this.#stopping.signal.aborted) return;
      cause = await this.#restart();
    }
  }

  /** @returns how the new server ended, perhaps much later */
  async #restart(): Promise<string> {
    try {
      const running = await this.#launch();
      this.options.log.info('nats-server.restarted', { pid: running.pid, url: this.url });
      return await running.ended;
    } catch (error) {
      return describeError(error);
    }
  }

  #giveUp(restarts: number, cause: string): void {
    const reason = `nats-server ended ${restarts + 1} times in a row and is not started again (last: ${cause})`;
    this.options.log.error('nats-server.given-up', { reason });
    this.options.onGiveUp(reason);
  }

  async #end(running: ServerProcess): Promise<void> {
    if (running.hasEnded()) return;
    running.signal('SIGTERM');
    const hard = setTimeout(() => running.signal('SIGKILL'), this.#limits.stopTimeoutMs);
    await running.ended;
    clearTimeout(hard);
  }

  #pause(durationMs: number): Promise<void> {
    return new Promise((resume) => {
      const timer = setTimeout(resume, durationMs);
      this.#stopping.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resume();
      });
    });
  }

  #clientFile(): Record<string, unknown> {
    return {
      url: this.url,
      user: this.credentials.user,
      password: this.credentials.password,
      sysUser: this.sysCredentials.user,
      sysPassword: this.sysCredentials.password,
    };
  }

  #path(name: string): string {
    return join(this.dir, name);
  }
}

/** A loopback port without a listener at this moment. */
async function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer().once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address !== null && typeof address === 'object' ? found(address.port) : failed(new Error('no port')),
      );
    });
  });
}

/**
 * Records the version that wrote a store, and warns when an older one is about to open it. Servers read
 * stores of older versions; the reverse is not promised. If streams are missing afterwards, the
 * check of the streams at start stops the process: no stream is created in their place.
 */
async function noteStoreVersion(path: string, version: string, log: Log): Promise<void> {
  const earlier = (await readFile(path, 'utf8').catch(() => '')).trim();
  if (earlier === version) return;
  if (earlier !== '' && compareVersions(earlier, version) > 0) {
    log.warn('nats-server.downgrade', { earlier, version, message: 'the store was last written by a newer server' });
  }
  await writePrivateFile(path, `${version}\n`, true);
}
