/**
 * Every default, with its unit in its name and the reason for it. The reasons are printed in
 * docs/settings.md; a number without one does not belong here.
 */
import { isIPv4 } from 'node:net';
import { join } from 'node:path';

/** What some defaults depend on; known before they are. */
export interface Surroundings {
  readonly host: string;
  readonly dataDir: string;
  /** No MILLRACE_NATS_URL: the process runs its own nats-server. */
  readonly isEmbedded: boolean;
  /** The variable by which others than this machine may reach it; undefined: none. */
  readonly exposedBy: string | undefined;
}

export interface Default {
  /** Undefined: not set, and that is a state of its own. */
  valueFor(surroundings: Surroundings): unknown;
  readonly reason: string;
  /** What to show instead of the value where it depends on other settings, or is a secret made at first start. */
  readonly shown?: string;
  /** Why it is what it is here, where that is not obvious. */
  because?(surroundings: Surroundings): string | undefined;
}

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const DAY_MS = 86_400_000;

function as(value: unknown, reason: string): Default {
  return { valueFor: () => value, reason };
}

function unset(reason: string, shown = 'not set'): Default {
  return { valueFor: () => undefined, reason, shown };
}

function derived(shown: string, valueFor: (surroundings: Surroundings) => unknown, reason: string): Default {
  return { valueFor, reason, shown };
}

function generated(reason: string): Default {
  return unset(`${reason} Used at the first start; another value later is a warning.`, 'generated');
}

/** The share of the file system: snapshots, read models and others need room too, and a total is no reservation. */
export const JOURNAL_SHARE = 1 / 4;
/** The disks are those of the NATS servers, and nobody here knows them. */
export const CLUSTER_JOURNAL_BYTES = 128 * GIB;

export const DEFAULTS = {
  // process
  roles: as(['edge', 'kv', 'queue', 'projection'], 'One process that does everything is the simplest installation.'),
  logLevel: as('info', 'A line for each fact an operator acts on; debug adds stacks and is for development.'),
  heapMb: as(1024, 'Room for a million small keys and for compacting them; given to node by `make run`.'),
  memoryBytes: unset(
    'What the process may hold for its tenants: 55 % data of databases, 25 % waiting messages, 20 % requests on their way and their answers. Far enough from the heap limit that the collector gets its work done.',
    'three quarters of the heap limit',
  ),
  shutdownMs: as(10_000, 'Supervisors commonly kill ten seconds after SIGTERM.'),
  drainNoticeMs: derived(
    '0 embedded, 3000 in a cluster',
    ({ isEmbedded }) => (isEmbedded ? 0 : 3_000),
    'A stopping process is unready for so long and answers as ever: three probes a second apart. A third of MILLRACE_SHUTDOWN_MS at most. Where nobody else could answer there is nothing to wait for.',
  ),

  // faces
  host: as('127.0.0.1', 'Nobody but this machine can connect until an operator decides otherwise.'),
  kvPort: as(7100, 'The kv face; the ports of the faces are a hundred apart.'),
  queuePort: as(7200, 'The queue face.'),
  mgmtPort: as(7300, 'The management face and the console.'),
  respPort: as(6380, 'Beside the port of a Redis that may run on the same machine.'),
  metricsPort: as(7400, 'Health and metrics apart from the faces, so that it need not be open to clients.'),
  publicUrlKv: unset('What records and hooks show; the address of the face when not set.', "the face's address"),
  publicUrlQueue: unset('What records and hooks show; the address of the face when not set.', "the face's address"),
  publicUrlMgmt: unset('What records and hooks show; the address of the face when not set.', "the face's address"),
  tlsCert: unset('The faces speak plain HTTP on loopback; set together with MILLRACE_TLS_KEY.'),
  tlsKey: unset('Set together with MILLRACE_TLS_CERT.'),
  trustedProxies: as([], 'X-Forwarded-For is a claim of the client unless a known proxy wrote it.'),
  wireAlias: unset('The neutral spelling alone.'),
  wireAliasDeliver: as(
    'alias',
    'Published receivers look for the alias; both where some of yours look for Svc- headers.',
  ),

  // signing in
  signInFailures: as(
    30,
    'A minute, of one address, at all faces together: a program with an old secret is seen, and does not shut out its neighbours. Beyond it the next one waits some seconds. 0: nobody waits.',
  ),
  secretMinCharacters: as(
    12,
    'Of clear secrets that operators or ACL SETUSER give: a password of a connection finds its database by itself, so one guess tries all of them. 0: whatever they like.',
  ),

  consoleSessionMs: as(
    12 * 3_600_000,
    'At the console: a working day. Who stays longer signs in again; a key that is deleted ends its sessions at once.',
  ),
  metricsToken: unset('`/metrics` shows no data of anybody; who can reach its port may read it, until a token is set.'),

  // http
  httpHeadersTimeoutMs: as(10_000, 'A client that needs longer for its headers is holding a socket, not sending.'),
  httpRequestTimeoutMs: as(30_000, 'Enough for the largest body on a slow line; bounds a dripping one.'),
  httpConnectionsCheckMs: as(2_000, 'How late the two timeouts above may be noticed; each check is cheap.'),
  httpKeepAliveMs: as(75_000, 'Above the 60 s at which common balancers close, so that they close first.'),
  httpMaxConnections: as(
    32_768,
    'Ten thousand subscribers and as many clients again; an idle connection costs about 10 KiB. For each face.',
  ),
  httpMaxConnectionsPerAddress: as(
    16_384,
    'A client package without a pool opens a connection a command, and a server may hold ten thousand subscribers.',
  ),
  httpMaxBodyBytes: as(
    64 * MIB,
    'A pipeline may hold several commands of the largest size; more is split by the client.',
  ),

  // nats
  natsUrl: unset('Without it the process starts and supervises its own nats-server.'),
  natsCreds: unset('The embedded server gets generated credentials; another is told one way of signing in.'),
  natsUser: unset('Set together with MILLRACE_NATS_PASSWORD.'),
  natsPassword: unset('Set together with MILLRACE_NATS_USER.'),
  natsToken: unset('One way of signing in among four.'),
  natsNkey: unset('The seed stays in a file, where the mode of the file protects it.'),
  natsTlsCa: unset(
    'The authorities that the machine trusts are used. With TLS, name servers by host name, not by address.',
  ),
  natsTlsCert: unset('Set together with MILLRACE_NATS_TLS_KEY, where the server asks for client certificates.'),
  natsTlsKey: unset('Set together with MILLRACE_NATS_TLS_CERT.'),
  natsSysCreds: unset('Lets a start ask every server for its version and its sync_interval.'),
  natsSysNkey: unset('As MILLRACE_NATS_SYS_CREDS: the seed of the user of the system account.'),
  natsSysUser: unset('As MILLRACE_NATS_SYS_CREDS; set together with MILLRACE_NATS_SYS_PASSWORD.'),
  natsSysPassword: unset('Set together with MILLRACE_NATS_SYS_USER.'),
  natsServer: unset('A fitting binary is looked for, and fetched when there is none.', 'found or fetched'),
  natsPrefix: as('', 'Streams and subjects keep their plain names; several installations can share a NATS with one.'),
  natsAppendTimeoutMs: as(
    1_000,
    'What a server took with it when it ended is sent again as soon; an append that is stored by then is found, not repeated.',
  ),

  // storage
  dataDir: as('.millrace', 'Beside the checkout; nothing outside it is written.'),
  sealKeyFile: derived(
    '<data dir>/seal.key',
    ({ dataDir }) => join(dataDir, 'seal.key'),
    'Outside JetStream, so that a copy of the journal does not open the secrets in it.',
  ),
  fsync: as('always', 'An acknowledged write survives power loss.'),
  replicas: as(1, 'One server cannot hold more; a cluster of three is told 3.'),
  allowUnsynced: as(
    false,
    'Replicas that do not sync can lose acknowledged writes together: only when told explicitly.',
  ),
  kvShards: derived(
    '4 embedded, 16 in a cluster',
    ({ isEmbedded }) => (isEmbedded ? 4 : 16),
    'Few shards make full entries; a cluster needs some for every process. Fixed by the first start.',
  ),
  queueShards: derived(
    '4 embedded, 16 in a cluster',
    ({ isEmbedded }) => (isEmbedded ? 4 : 16),
    'As MILLRACE_KV_SHARDS.',
  ),
  auditRetention: as(
    { ageMs: 7 * DAY_MS, bytes: 10 * GIB },
    'A week to notice a mistake in, unless the disk would suffer first.',
  ),
  journalTotalBytes: unset(
    'All journals together; beyond it the largest let go of history earlier. What no two snapshots have always stays.',
    'a quarter of the file system; 128GiB in a cluster',
  ),
  diskReserveBytes: as(
    128 * MIB,
    'Below it what grows is refused with 503, so that deletes, claims and snapshots still find room. 0 turns it off.',
  ),
  snapshotEntries: as(50_000, 'Half of the tail that a restart must be able to replay within eight seconds.'),
  snapshotBytes: as(
    192 * MIB,
    'About three seconds of replay; making snapshots more often takes a core from whoever writes much.',
  ),
  statisticsSnapshotBytes: as(
    16 * MIB,
    "So much of the meter's log is kept twice at most, or as much as a snapshot of the statistics is large.",
  ),

  // ownership
  sessionHeartbeatMs: as(500, 'Six heartbeats must be missed before anyone takes over.'),
  leaseRenewalMs: as(1_000, 'Half of the read lease, so that one lost renewal costs nothing.'),
  readLeaseMs: as(2_000, 'What a successor waits before it acknowledges writes: short enough to bear.'),
  readLeaseMarginMs: as(500, 'Added by the successor; twice what a suspended machine may hide from its owner.'),
  takeoverSilenceMs: as(3_000, 'Longer than the read lease and than a long garbage collection.'),
  clockJumpMs: as(250, 'The clocks of a running machine drift apart far less; those of a suspended one far more.'),
  clockSkewMs: as(
    2_000,
    'Machines that are kept in time differ by milliseconds; a delay or TTL that is off by two seconds is noticed.',
  ),
  clockTrust: as(
    'compared',
    'machine, for one start: the clock was wrong before and is right now, whatever the last run and others say.',
  ),
  controlStaleMs: as(500, 'A revoked token must stop within a second, and the journal says it is alive every 250 ms.'),
  requestHoldMs: as(
    5_000,
    'A takeover or a small load ends within it; nothing is begun after it, and the client hears 503 a second later at most.',
  ),
  commandMemoryMs: as(600_000, 'An edge stops repeating after 60 s; ten times that survives a takeover in between.'),
  reads: as('lease', 'Linearizable without an append; barrier does not even trust the clock of the machine.'),

  // bounds
  maxCommandBytes: as(10 * MIB, 'The documented size of one command; a database can be given another.'),
  maxAnswerBytes: as(
    64 * MIB,
    'Six of the largest strings, and an eighth of a small heap. Much of an answer is named, not copied: it grows when it is written.',
  ),
  maxRequestsPerDay: as(0, 'Nobody is limited unless told; a database can be given another number. 0 is no limit.'),
  mailboxCommands: as(
    100_000,
    'About three seconds of work: what waits longer than the hold is better refused at once.',
  ),
  mailboxBytes: as(64 * MIB, 'Six of the largest commands for each shard, a small part of the heap.'),
  turnCommands: as(1_000, 'Full entries under load; more would only delay the first reply.'),
  turnBytes: as(256 * KIB, 'An entry that size costs little more to sync than a small one.'),
  turnMs: as(5, 'A quarter of the 20 ms that our own work may hold the loop.'),
  commandMs: as(
    5_000,
    'Work of a command or a transaction, in slices: as much as of a script. A database may be told less, never more.',
  ),
  scriptMs: as(
    5_000,
    'As long as Redis lets a script run before it may be killed; a database may be told less, never more.',
  ),
  scriptHoldMs: as(
    250,
    'Others wait while a script cannot be interrupted: a quarter of a second is noticed, more is an outage.',
  ),
  entryChunkBytes: as(512 * KIB, 'Half of the max_payload of a NATS server, with room for headers.'),
  busMessageBytes: as(
    64 * MIB,
    'Commands to an owner in another process and their replies; beyond the largest command.',
  ),
  expiryKeys: as(200, 'Keys journaled as deleted in one turn: an entry of some 10 KiB.'),

  // destinations
  allowPrivateDestinations: {
    ...derived(
      'true embedded on a loopback host without a public URL or a trusted proxy, else false',
      (s) => s.isEmbedded && s.exposedBy === undefined,
      'On a laptop the receivers are local; elsewhere private addresses are what attackers aim at. Link-local ones, the metadata services of clouds among them, stay closed in any case.',
    ),
    because: ({ isEmbedded, exposedBy }: Surroundings) =>
      exposedBy !== undefined
        ? `others may reach this process: ${exposedBy}`
        : isEmbedded
          ? 'only this machine can reach this process'
          : 'MILLRACE_NATS_URL is set',
  },
  destinationAllow: as(
    [],
    'Private receivers that an operator names are reachable, no others. Link-local ones only by a range that is no wider than theirs.',
  ),

  // delivery
  deliveryConcurrency: as(
    1000,
    'Calls in flight at once in a process, all accounts together: some 100 MB when every answer is a megabyte cut at 64 KiB.',
  ),
  deliveryPerOrigin: as(
    200,
    'Sockets to one destination, and the most of the places that messages for it may hold, when there are enough.',
  ),
  deliveryConnectTimeoutMs: as(
    10_000,
    'A host that takes longer to accept a connection will not answer in time either.',
  ),
  deliveryLookupTimeoutMs: as(
    5_000,
    "A name server that is silent has been asked three times by then. Waiting for it is no part of connecting's time.",
  ),
  deliveryLookups: as(
    1_000,
    'Names looked up at once: as many as there are calls. Beyond it the one that is unanswered longest fails.',
  ),
  deliveryNameServers: as([], 'Those of /etc/resolv.conf, as for every program of the machine.'),
  deliveryOverheadBytes: as(
    1 * MIB,
    'Of one answer all that is not its body: headers of 32 KiB, interim answers, and the framing of 64 KiB in chunks of a byte.',
  ),
  deliveryAnswerBytes: as(
    128 * MIB,
    'Answers longer than 64 KiB that are being read for callbacks and workflows, all accounts together: a hundred of a mebibyte. Others are read on later.',
  ),
  queueBodyMemoryBytes: as(
    96 * MIB,
    'Bodies of waiting messages held in memory; beyond it they are read back from the journal when they are due.',
  ),
  queueMemoryBytes: unset(
    'What waiting messages of all accounts may take of the memory, some 280 bytes each; one account nine tenths of it. Bodies make room for them.',
    '25 % of MILLRACE_MEMORY_BYTES',
  ),
  queueMaxMessages: as(
    10_000_000,
    'Messages that one account may have waiting, its DLQ included: more than five gigabytes of heap. Memory bounds it before that in a smaller process.',
  ),
  queueMaxBytes: as(
    16 * GIB,
    'Bodies, headers and URLs of what one account has waiting: on the disk up to twice as much, and in each snapshot.',
  ),
  queueTellAfterMs: as(
    1_000,
    'An owner that has not answered a publish by then is loading or gone; the message is stored in the intake instead.',
  ),
  workflowInlineBytes: as(
    1 * MIB,
    'A step is delivered with all entries of its run before it, base64; where they are more, the endpoint fetches them.',
  ),
  logRetentionMs: as(14 * DAY_MS, 'Two weeks of what happened to messages; older events leave the read model.'),
  region: unset('Deliveries carry no region; one of the two names lets receivers with keys of two regions choose.'),

  // prices
  queuePriceCents: as(
    0,
    'Of 100,000 messages. Nothing is charged unless an operator sets a price; budgets are judged by it.',
  ),
  kvPriceCents: as(0, 'Of 100,000 commands. As MILLRACE_QUEUE_PRICE_CENTS.'),
  searchPriceCents: as(0, 'Of 100,000 queries, updated documents and units of reranking.'),
  storagePriceCents: as(0, 'Of a GiB of keys and values or of documents for a month, each day its share.'),
  freeStorageBytes: as(0, 'Of each database, before MILLRACE_STORAGE_PRICE_CENTS counts.'),
  bandwidthPriceCents: as(0, 'Of a GiB in or out, of requests, answers and bodies that are delivered.'),
  freeBandwidthBytes: as(0, 'Of each database and account in a month, before MILLRACE_BANDWIDTH_PRICE_CENTS counts.'),

  // tracing
  otlpEndpoint: unset(
    'The base URL of a collector that takes OTLP over HTTP, mostly on port 4318; spans go to /v1/traces under it. Without it nothing is traced, and nothing of it is loaded.',
  ),
  otlpHeaders: unset('What the collector is sent beside the spans, such as authorization=Bearer and a token.'),
  traceRatio: as(
    0.01,
    'The share of requests without a trace of their own that are traced. One in a hundred shows what is usual and costs next to nothing; 1 is for development. Callers that bring a trace decide by themselves.',
  ),

  // first start
  kvToken: generated('The first database works without a call to the management API.'),
  kvReadonlyToken: generated('As MILLRACE_KV_TOKEN, for readers.'),
  kvPassword: generated('The password of the first database on the RESP face.'),
  queueToken: generated('The first account; workflow clients read UserID from it.'),
  queueReadonlyToken: generated('As MILLRACE_QUEUE_TOKEN, for those who only look.'),
  mgmtEmail: generated('The name of the first account of the management API.'),
  mgmtKey: generated('The key of the first account of the management API.'),
  signingKeyCurrent: generated('Signs what is delivered.'),
  signingKeyNext: generated('What will sign after the next rotation.'),
} as const satisfies Record<string, Default>;

/** Whether only this machine can connect to what listens on `host`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
