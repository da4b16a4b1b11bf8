/**
 * Serves a replayed database on a separate REST port, with the same API as a live database, on a state that does not
 * change.
 *
 *  RS1 two kinds of tokens are accepted: those of the live database, with their users' read permissions, and one
 *      created for this replay. With the first, programs can be pointed at the past unchanged, and a revoked token is
 *      refused; the second also opens a deleted database, without needing a token of the tenant
 *  RS2 requests are neither counted against the database's limits nor metered
 */
import { createKvServer } from '../edge/index.js';
import type { DatabaseId, SessionId } from '../kernel/index.js';
import type { Access, Clock, KvEvents, KvGrant, Log, Random, Timers } from '../ports/index.js';
import { hashSecret, newSecretText, parseKvPartition } from '../protocol/index.js';
import type { Replayed } from './database.js';
import { ReplayGateway } from './gateway.js';
import type { KvKeyedFold } from './keyed-fold.js';

export interface ReplayServerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  /** The access to the live database. */
  readonly access: Access;
}

export interface ReplayServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly maxCommandBytes: number;
  readonly aliases?: Parameters<typeof createKvServer>[0]['aliases'];
}

export interface ReplayServer {
  readonly url: string;
  /** Accepted only by this replay. */
  readonly token: string;
  close(): Promise<void>;
}

/** The time for requests in flight when the server is closed. */
const CLOSE_AFTER_MS = 2000;

/** @throws the errors of listening */
export async function serveReplay(
  { clock, timers, random, log, access }: ReplayServerPorts,
  database: DatabaseId,
  { atMs, parts }: Replayed<KvKeyedFold>,
  { host, port, maxCommandBytes, aliases = [] }: ReplayServerOptions,
): Promise<ReplayServer> {
  const token = newSecretText(random, 'mrr_');
  const own: KvGrant = {
    database,
    partitions: parts
      .map(({ partition }) => partition)
      .sort((a, b) => parseKvPartition(a).index - parseKvPartition(b).index),
    role: 'standard',
    user: 'default',
    limits: { maxCommandBytes, maxRequestsPerDay: 0 },
  };
  const engines = new Map(parts.map(({ partition, fold, position }) => [partition, { engine: fold.engine, position }]));
  const server = createKvServer({
    gateway: new ReplayGateway(engines, atMs, timers),
    events: SILENCE,
    access: new ReplayAccess(own, hashSecret(token), access),
    quota: { take: () => true },
    meter: { recordKv() {}, connected() {} },
    clock,
    timers,
    log,
    aliases,
  });
  const address = await server.listen(port, host);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    token,
    close: () => server.close(AbortSignal.timeout(CLOSE_AFTER_MS)),
  };
}

/** RS1 (two kinds of tokens are accepted): the replay's own token, and tokens of the live database. */
class ReplayAccess implements Access {
  constructor(
    private readonly own: KvGrant,
    private readonly sha256: string,
    private readonly live: Access,
  ) {}

  get version(): number {
    return this.live.version ?? 0;
  }

  grantFor(token: string): KvGrant | undefined {
    if (hashSecret(token) === this.sha256) return this.own;
    const grant = this.live.grantFor(token);
    return grant?.database === this.own.database ? grant : undefined;
  }
}

/** No events occur in the past, so subscribers receive none. */
const SILENCE: KvEvents = {
  edge: 'replay' as SessionId,
  subscribe: async () => ({ stop() {} }),
};
