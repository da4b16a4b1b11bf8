/**
 * The NATS connections of one process: one for appends, one for reading, one for control and the bus, so that a slow
 * reader is disconnected without affecting appends.
 */
import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  connect as connectClient,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from 'nats';
import { describeError, MillraceError } from '../../kernel/index.js';
import { NatsLink } from './link.js';
import { ServerPing } from './server-ping.js';
import { inboxPrefix, type NatsUser } from './subjects.js';

export interface NatsOptions {
  /** `nats://host:port`, `tls://host:port` or `host:port`; all servers of the cluster. */
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** Path of a file with the seed of an nkey. */
  readonly nkeyFile?: string;
  /** Path of a `.creds` file. */
  readonly credsFile?: string;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** Shown in the server's list of connections. */
  readonly name?: string;
  /** The user of the system account; without it servers cannot be asked about their settings. */
  readonly system?: Pick<NatsOptions, 'user' | 'password' | 'token' | 'nkeyFile' | 'credsFile'>;
  /** The server is a child of this process: its end closes every socket, and there is no other server. */
  readonly isOwn?: boolean;
  /** A thread without appends and server requests; those connections are not opened. */
  readonly isThread?: boolean;
  /** The user for inboxes and the rights of roles. Default `process`. */
  readonly as?: NatsUser;
}

/** The timeout of connecting to one server and of its greeting. */
const DIAL_TIMEOUT_MS = 2000;
/** Short, because every shard of this process waits; jittered, because every process does. */
const RECONNECT_WAIT_MS = 150;
const RECONNECT_JITTER_MS = 100;
/** A dead peer is noticed within three of these; the client's default of two minutes would hide it. */
const PING_INTERVAL_MS = 2000;
const PINGS_UNANSWERED = 2;
/** An own server is checked by a `ServerPing`, and by callers that wait for its answers. */
const OWN_PING_INTERVAL_MS = 60_000;
/**
 * An own server stores while it reads, so a slow disk delays its sign of life, and no other server could replace it.
 */
const OWN_ALIVE_WITHIN_MS = 5000;

export interface NatsConnections {
  /** Only appends with an expectation. */
  readonly appends: NatsLink;
  /** Consumers: replay and followers. */
  readonly reads: NatsLink;
  /** Leases, objects, the bus, requests about streams. */
  readonly control: NatsLink;
  /** The system account, if its credentials were given. */
  readonly system: NatsLink | undefined;
  /** For the reading connection, where the server is our own. */
  readonly serverPing: ServerPing | undefined;
  /** Versions of the servers that the three connections use now. */
  serverVersions(): string[];
  close(): Promise<void>;
}

/** @throws JOURNAL_UNAVAILABLE when no server answers; BAD_CONFIG when a file cannot be read */
export async function connect(options: NatsOptions): Promise<NatsConnections> {
  const opened: NatsLink[] = [];
  const open = async (role: string, noEcho: boolean, identity: Identity): Promise<NatsLink> => {
    const link = await openLink(options, role, noEcho, identity);
    opened.push(link);
    return link;
  };
  try {
    const { isOwn = false, isThread = false, system: ofSystem } = options;
    const reading = open('reads', true, options);
    const controlling = open('control', false, options);
    const appending = isThread ? controlling : open('appends', true, options);
    const asking = isThread || ofSystem === undefined ? undefined : open('system', true, ofSystem);
    // If one fails, the opened ones are closed below.
    await Promise.allSettled([reading, controlling, appending, asking]);
    const [reads, control, appends, system] = await Promise.all([reading, controlling, appending, asking]);
    return {
      appends,
      reads,
      control,
      system,
      serverPing: isOwn ? new ServerPing(reads) : undefined,
      serverVersions: () => [...new Set([appends, reads, control].map((link) => link.serverVersion))],
      close: async () => {
        await Promise.all(opened.map((link) => link.close()));
      },
    };
  } catch (error) {
    await Promise.all(opened.map((link) => link.close()));
    throw error;
  }
}

type Identity = Pick<NatsOptions, 'user' | 'password' | 'token' | 'nkeyFile' | 'credsFile'>;

async function openLink(options: NatsOptions, role: string, noEcho: boolean, identity: Identity): Promise<NatsLink> {
  const authenticator = authenticatorOf(identity);
  const user = role === 'system' ? 'system' : (options.as ?? 'process');
  const settings: NodeConnectionOptions = {
    servers: [...options.servers],
    name: `${options.name ?? 'millrace'} ${role}`,
    noEcho,
    inboxPrefix: inboxPrefix(user, role),
    timeout: DIAL_TIMEOUT_MS,
    reconnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    reconnectJitterTLS: RECONNECT_JITTER_MS,
    pingInterval: options.isOwn ? OWN_PING_INTERVAL_MS : PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED,
    // A starting server may not know its users yet; giving up for good would need a restart of this process.
    ignoreAuthErrorAbort: true,
    // A stack for every request costs more than the request.
    noAsyncTraces: true,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(options.tls === undefined ? {} : { tls: { ...options.tls } }),
  };
  try {
    return new NatsLink(await connectClient(settings), role, user, options.isOwn ? OWN_ALIVE_WITHIN_MS : undefined);
  } catch (cause) {
    const addresses = options.servers.join(', ');
    const message = `no NATS server at ${addresses}: ${describeError(cause)}`;
    throw new MillraceError('JOURNAL_UNAVAILABLE', message, { role }, cause);
  }
}

function authenticatorOf(identity: Identity): Authenticator | undefined {
  if (identity.credsFile !== undefined) return credsAuthenticator(secretFile(identity.credsFile));
  if (identity.nkeyFile !== undefined) {
    const seed = secretFile(identity.nkeyFile);
    return nkeyAuthenticator(() => trimmed(seed()));
  }
  if (identity.token !== undefined) return tokenAuthenticator(identity.token);
  if (identity.user !== undefined) return usernamePasswordAuthenticator(identity.user, identity.password);
  return undefined;
}

/**
 * Reads the file at each connection, so that a rotated secret is used without a restart. If it cannot be read, it is
 * being replaced: the last contents are used, and the next connection reads it again.
 */
function secretFile(path: string): () => Uint8Array {
  let last: Uint8Array;
  try {
    last = readFileSync(path);
  } catch (cause) {
    throw new MillraceError('BAD_CONFIG', `cannot read ${path}`, {}, cause);
  }
  return () => {
    try {
      last = readFileSync(path);
    } catch {
      // Described above.
    }
    return last;
  };
}

function trimmed(bytes: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString('latin1').trim(), 'latin1');
}
