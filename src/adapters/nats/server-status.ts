/**
 * The status of every server of the cluster, requested through the system account, and the check
 * that it is sufficient for the configured replicas. Servers without an answer count as unsynced.
 */
import { MillraceError } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import type { NatsLink } from './link.js';
import { ALL_SERVERS_STATUS } from './subjects.js';
import { isAtLeast, SOUND_REPLICATED_SUBJECT_CAS } from './versions.js';

export interface NatsServerStatus {
  readonly name: string;
  readonly version: string;
  /** Every write is on disk before it is acknowledged. */
  readonly hasSyncAlways: boolean;
  /** JetStream is on; a server turns it off by itself when its disk is full. */
  readonly hasStore: boolean;
  readonly storedBytes: number;
  readonly storeLimitBytes: number;
  /** The other servers of its cluster, as far as it knows. */
  readonly peers: readonly string[];
}

/** Servers answer in milliseconds; one that needs longer than this is not counted. */
const ANSWERS_WITHIN_MS = 2000;
const SILENCE_ENDS_AFTER_MS = 300;
const ROUNDS = 5;

interface VarzAnswer {
  readonly server?: { readonly name?: string; readonly ver?: string };
  readonly data?: {
    readonly server_name?: string;
    readonly version?: string;
    readonly jetstream?: {
      readonly config?: { readonly sync_always?: boolean; readonly max_storage?: number };
      readonly stats?: { readonly storage?: number };
      readonly meta?: { readonly replicas?: readonly { readonly name: string }[] | null };
    };
  };
}

/**
 * `'unknown'` without a system connection, or without an answer.
 * @param atLeast repeats the request a few times while fewer answer, because servers of a starting cluster connect late
 */
export async function askServers(
  connections: Pick<NatsConnections, 'system'>,
  atLeast = 1,
  rounds = ROUNDS,
): Promise<NatsServerStatus[] | 'unknown'> {
  const { system } = connections;
  if (system === undefined || !system.isConnected()) return 'unknown';
  let facts: NatsServerStatus[] | 'unknown' = 'unknown';
  for (let round = 0; round < rounds; round += 1) {
    facts = await askOnce(system);
    if (facts !== 'unknown' && facts.length >= atLeast) break;
  }
  return facts;
}

async function askOnce(system: NatsLink): Promise<NatsServerStatus[] | 'unknown'> {
  const facts: NatsServerStatus[] = [];
  try {
    const answers = await system.raw.requestMany(ALL_SERVERS_STATUS, '', {
      strategy: 'stall',
      stall: SILENCE_ENDS_AFTER_MS,
      maxWait: ANSWERS_WITHIN_MS,
    });
    for await (const answer of answers) facts.push(factsOf(answer.json<VarzAnswer>()));
  } catch {
    return 'unknown';
  }
  return facts.length === 0 ? 'unknown' : facts.sort((a, b) => a.name.localeCompare(b.name));
}

function factsOf({ server, data }: VarzAnswer): NatsServerStatus {
  const { config, stats, meta } = data?.jetstream ?? {};
  return {
    name: server?.name ?? data?.server_name ?? 'unknown',
    version: server?.ver ?? data?.version ?? '0.0.0',
    hasSyncAlways: config?.sync_always === true,
    hasStore: config !== undefined,
    storedBytes: stats?.storage ?? 0,
    storeLimitBytes: config?.max_storage ?? 0,
    peers: (meta?.replicas ?? []).map(({ name }) => name),
  };
}

export interface ReplicationQuestion {
  readonly replicas: number;
  /** The number of servers that must answer: all with replicas when streams are created, one when a server may be down. */
  readonly atLeast: number;
  readonly servers:
    | readonly (Pick<NatsServerStatus, 'name' | 'version' | 'hasSyncAlways'> & { readonly hasStore?: boolean })[]
    | 'unknown';
  /** Versions of the connected servers, the only known ones without the system account. */
  readonly connectedVersions: readonly string[];
  /** The operator accepts that a power failure of several nodes may lose acknowledged writes. */
  readonly allowUnsynced: boolean;
}

/** @throws BAD_CONFIG when these servers cannot keep the promises of that many replicas */
export function checkReplication(question: ReplicationQuestion): void {
  const { replicas, servers, atLeast, connectedVersions, allowUnsynced } = question;
  const refuse = (message: string) => new MillraceError('BAD_CONFIG', message, { replicas });
  const kept = replicas === 1 ? '1 replica needs' : `${replicas} replicas need`;
  const versions = servers === 'unknown' ? connectedVersions : servers.map((server) => server.version);
  const old = versions.filter((version) => !isAtLeast(version, SOUND_REPLICATED_SUBJECT_CAS));
  if (old.length > 0) {
    throw refuse(`${kept} nats-server ${SOUND_REPLICATED_SUBJECT_CAS} or newer on every node; found ${old.join(', ')}`);
  }
  if (allowUnsynced) return;
  if (servers === 'unknown') {
    throw refuse(
      'cannot ask the servers whether they sync every write: give system account credentials, or allow unsynced replicas explicitly',
    );
  }
  if (servers.length < atLeast) {
    throw refuse(`only ${servers.length} of at least ${atLeast} servers said whether they sync every write`);
  }
  // A server with JetStream off (its disk was full) cannot lose writes; the cluster status reports it.
  const unsynced = servers.filter(({ hasSyncAlways, hasStore = true }) => hasStore && !hasSyncAlways);
  const names = unsynced.map(({ name }) => name).join(', ');
  if (unsynced.length > 0) throw refuse(`${kept} sync_interval: always on every node; not on ${names}`);
}
