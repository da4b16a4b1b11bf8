/**
 * The embedded server's configuration file and credentials.
 *
 *  SCO1 Two accounts: SYS, which may ask the server about itself, and APP, which alone has JetStream.
 *       There is no user without a password.
 *  SCO2 It listens on one loopback port and has no monitoring, websocket, MQTT or leaf node listener.
 *  SCO3 All text goes in quoted: a path or password never becomes syntax.
 */
import { randomBytes } from 'node:crypto';
import { knowsLogFileCount, knowsSyncAlways } from './server-version.js';

/** 192 bits; guessing is hopeless even without a limit on tries. */
const SECRET_BYTES = 24;
/** The size of a log file: one current and one earlier file show the events before a crash. */
const LOG_FILE_BYTES = 8 * 1024 * 1024;
const LOG_FILES_KEPT = 2;
/** This program has no memory streams; the server's default would be three quarters of the RAM. */
const MEMORY_STORE_BYTES = 64 * 1024 * 1024;
/** The interval of fsync: writes of at most this time are lost in a power failure. The server's default is two minutes. */
const SYNC_INTERVAL = '1s';
/** The key is in the environment of the server, because its configuration file is in the data directory. */
export const STORE_KEY_VARIABLE = 'MILLRACE_STORE_KEY';
export const DEFAULT_MAX_PAYLOAD_BYTES = 1024 * 1024;

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface ServerConfig {
  readonly version: string;
  readonly port: number;
  readonly storeDir: string;
  readonly logPath: string;
  readonly fsync: 'always' | 'interval';
  /** The store is encrypted with the key of the environment variable `STORE_KEY_VARIABLE`. */
  readonly isEncrypted: boolean;
  readonly maxPayloadBytes: number;
  readonly app: Credentials;
  readonly system: Credentials;
}

export function makeCredentials(user: string): Credentials {
  return { user, password: randomBytes(SECRET_BYTES).toString('base64url') };
}

export function renderServerConfig(config: ServerConfig): string {
  const sync = knowsSyncAlways(config.version)
    ? [`  sync_interval: ${config.fsync === 'always' ? 'always' : SYNC_INTERVAL}`]
    : [];
  const encryption = config.isEncrypted ? ['  cipher: chacha', `  key: $${STORE_KEY_VARIABLE}`] : [];
  const logCount = knowsLogFileCount(config.version) ? [`logfile_max_num: ${LOG_FILES_KEPT}`] : [];
  return `${[
    'server_name: "millrace-embedded"',
    `listen: "127.0.0.1:${config.port}"`,
    `max_payload: ${config.maxPayloadBytes}`,
    `log_file: ${quoted(config.logPath)}`,
    `logfile_size_limit: ${LOG_FILE_BYTES}`,
    ...logCount,
    'jetstream {',
    `  store_dir: ${quoted(config.storeDir)}`,
    `  max_memory_store: ${MEMORY_STORE_BYTES}`,
    ...sync,
    ...encryption,
    '}',
    'accounts {',
    `  SYS { users: [ ${user(config.system)} ] }`,
    `  APP { jetstream: enabled, users: [ ${user(config.app)} ] }`,
    '}',
    'system_account: SYS',
  ].join('\n')}\n`;
}

function user({ user, password }: Credentials): string {
  return `{ user: ${quoted(user)}, password: ${quoted(password)} }`;
}

/** The server's quoted strings know the escapes that JSON uses for quotes and backslashes. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
