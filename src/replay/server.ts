/**
 * A replayed database behind a REST port of its own: the same face as a live one's, in front of state that nobody
 * changes.
 *
 *  RS1 two kinds of tokens open it: those that open the database now, with what their users may read, and one made
 *      for this replay. The first let programs be pointed at the past as they are, and a token revoked since opens
 *      nothing; the second opens a database that was deleted, and needs nobody to hand out a token of the tenant's
 *  RS2 nothing is counted against the database's limits, and nothing is metered
 */
import { createKvServer } from '../edge/index.js';
import type { DatabaseId, SessionId } from '../kernel/index.js';
import { hashSecret, newSecretText, parseKvPartition } from '../messages/index.js';
import type { Access, Clock, KvEvents, KvGrant, Log, Random, Timers } from '../ports/index.js';
import type { Replayed } from './database.js';
import { ReplayGateway } from './gateway.js';
import type { KvKeyedFold } from './keyed-fold.js';

export interface ReplayServerPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  /** The access to the database as it is now. */
  readonly access: Access;
}

export interface ReplayServerOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Largest command and reply. */
  readonly maxCommandBytes: number;
  readonly aliases?: Parameters<typeof createKvServer>[0]['aliases'];
}

export interface ReplayServer {
  readonly url: string;
  /** Opens this replay and nothing else. */
  readonly token: string;
  close(): Promise<void>;
}

/** A request in flight has so long when the server is closed. */
const CLOSE_AFTER_MS = 2000;

/** @throws what listening throws */
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

/** RS1. */
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

/** Nothing happens in the past any more: who listens hears nothing. */
const SILENCE: KvEvents = {
  edge: 'replay' as SessionId,
  subscribe: async () => ({ stop() {} }),
};
