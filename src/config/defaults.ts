/**
 * Every default, with its unit in its name and its reason. The reasons are printed in docs/settings.md; a number
 * without a reason does not belong here.
 */
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import { as, type Default, derived, GIB, generated, KIB, MIB, unset } from './default.js';
import { DELIVERY_DEFAULTS } from './delivery-defaults.js';

const DAY_MS = 86_400_000;

/** Share of the file system: snapshots and read models need space too, and the journal's total is not a reservation. */
export const JOURNAL_SHARE = 1 / 4;
/** The disks belong to the NATS servers, and this process does not know their size. */
export const CLUSTER_JOURNAL_BYTES = 128 * GIB;

export const DEFAULTS = {
  // process
  roles: as(['edge', 'kv', 'queue', 'projection'], 'One process with all roles is the simplest installation.'),
  workers: as(
    'auto',
    'One worker for two processors, as many as the memory allows with MILLRACE_HEAP_MB for each. With one, the process has no supervisor. See docs/operations/cores.md.',
  ),
  logLevel: as('info', 'A line for each fact an operator acts on; debug adds stacks and is for development.'),
  heapMb: as(
    1024,
    'Room for a million small keys and for compacting them; given to node by `make run`. Each worker has this much.',
  ),
  memoryBytes: unset(
    'Memory for tenant data: 55 % for databases, 25 % for waiting messages, 20 % for requests and responses in flight. The distance to the heap limit leaves room for garbage collection.',
    'three quarters of the heap limit, in each worker',
  ),
  shutdownMs: derived(
    '10000 embedded, 20000 in a cluster',
    ({ isEmbedded }) => (isEmbedded ? 10_000 : 20_000),
    'Supervisors commonly kill a process ten seconds after SIGTERM. In a cluster the other processes first replay the shards that this one owns, which takes longer when their processors are busy; the service files of a cluster allow 30 s.',
  ),
  drainNoticeMs: derived(
    '0 embedded, 3000 in a cluster',
    ({ isEmbedded }) => (isEmbedded ? 0 : 3_000),
    'How long a stopping process reports not ready and still answers: three probes, one second apart. At most a third of MILLRACE_SHUTDOWN_MS. An embedded installation has no other process to take over and does not wait.',
  ),
  workerSilenceMs: as(
    20_000,
    'A worker reports to its supervisor once a second, and is killed and started again after this silence: it is frozen, or its event loop is held. Far above a garbage collection of the largest heap, and above a start on a machine that is busy with other programs. More for a debugger or a heap snapshot.',
  ),

  // endpoints
  host: as('127.0.0.1', 'Only this machine can connect until an operator changes it.'),
  kvPort: as(7100, 'The REST endpoint of databases; the ports of endpoints are a hundred apart.'),
  queuePort: as(7200, 'The queue endpoint.'),
  mgmtPort: as(7300, 'The management endpoint and the console.'),
  respPort: as(6380, 'Next to 6379, so that a Redis can run on the same machine.'),
  respWorkerPort: unset(
    'The first of the ports for cluster clients of Redis when a machine has several workers: each worker has the next port in addition to the shared one, and clients of a database in cluster mode are sent to it. Without it all workers are one node.',
  ),
  respAnnounceHost: unset(
    'The address of this process for cluster clients of Redis, when they reach it by another one than it listens on.',
    'MILLRACE_HOST, or the first address of the machine if that is 0.0.0.0 or ::',
  ),
  respAnnouncePort: unset(
    'The port at that address, of the first worker.',
    'MILLRACE_RESP_WORKER_PORT, or MILLRACE_RESP_PORT',
  ),
  metricsPort: as(7400, 'Health and metrics have their own port, which need not be open to clients.'),
  publicUrlKv: unset(
    'The address that responses and webhook URLs contain; when not set, the address of the endpoint.',
    'the address of the endpoint',
  ),
  publicUrlQueue: unset(
    'The address that responses and webhook URLs contain; when not set, the address of the endpoint.',
    'the address of the endpoint',
  ),
  publicUrlMgmt: unset(
    'The address that responses and webhook URLs contain; when not set, the address of the endpoint.',
    'the address of the endpoint',
  ),
  tlsCert: unset('Without it the endpoints speak plain HTTP; set together with MILLRACE_TLS_KEY.'),
  tlsKey: unset('Set together with MILLRACE_TLS_CERT.'),
  trustedProxies: as([], 'X-Forwarded-For is a claim of the client unless a known proxy wrote it.'),
  wireAlias: unset('Only the neutral spelling is accepted by default.'),
  wireAliasDeliver: as(
    'alias',
    'Published receivers look for the alias; both where some of yours look for Svc- headers.',
  ),
  mcp: as(
    'off',
    'The Model Context Protocol at /mcp of the management port (docs/guide/mcp.md): off; read for tools that only read; change also for tools that change data. The code for it is loaded with the first call.',
  ),
  portalFrameAncestors: as(
    [],
    'No page shows the portal of applications in a frame, so none can lead its user to click there unseen.',
  ),
  portalFile: unset('The portal has its own title, colours and words; the file is read at the first visit.', 'none'),

  // signing in
  signInFailures: as(
    30,
    'Failed sign-ins per minute of one address, over all endpoints. The next one above it waits some seconds. Low enough to slow guessing, high enough that a program with an old secret does not lock out others at its address. 0: no limit.',
  ),
  secretMinCharacters: as(
    12,
    'The minimum length of secrets chosen by operators or ACL SETUSER. A password alone selects the database of a connection, so one guess tries all databases. 0: any length.',
  ),

  readOnlyKeysSeeSecrets: as(
    false,
    'Read-only management keys see passwords and writing tokens masked, and read-only tokens in clear. true: they see all of them in clear, as in earlier releases.',
  ),
  signInProviders: unset(
    'Identity providers that sign people in (docs/operations/sign-in.md), as a JSON list; usually a reference such as file:/etc/millrace/providers.json. Without it the code for them is not loaded.',
  ),
  signInCheckMs: as(
    20_000,
    'How often the provider of each live session is asked about the groups of its person. A session ends within a minute after the person has left the group.',
  ),
  consoleSessionMs: as(
    12 * 3_600_000,
    'The length of a console session: one working day. Deleting a key ends its sessions immediately.',
  ),
  metricsToken: unset(
    '`/metrics` contains no tenant data; without a token, every client that reaches the port may read it.',
  ),

  // http
  httpHeadersTimeoutMs: as(10_000, 'A client that needs longer for its headers is holding a socket, not sending.'),
  httpRequestTimeoutMs: as(30_000, 'Enough for the largest body on a slow line; bounds a dripping one.'),
  httpConnectionsCheckMs: as(2_000, 'The longest delay in noticing the two timeouts above; each check is cheap.'),
  httpKeepAliveMs: as(75_000, 'Above the 60 s at which common balancers close, so that they close first.'),
  httpMaxConnections: as(
    32_768,
    'For each endpoint: ten thousand subscribers and as many other clients; an idle connection costs about 10 KiB.',
  ),
  httpMaxConnectionsPerAddress: as(
    16_384,
    'A client package without a pool opens one connection per command, and one server may hold ten thousand subscribers.',
  ),
  httpMaxBodyBytes: as(
    64 * MIB,
    'A pipeline may contain several commands of the largest size; clients split larger ones.',
  ),

  // nats
  natsUrl: unset('Without it the process starts and supervises its own nats-server.'),
  natsCreds: unset('The embedded server gets generated credentials; external servers need one way to sign in.'),
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
  natsServer: unset('A suitable binary is searched for, and downloaded if none is found.', 'found or downloaded'),
  natsPrefix: as('', 'Streams and subjects keep their plain names; several installations can share a NATS with one.'),
  natsAppendTimeoutMs: as(
    1_000,
    'The time after which an unanswered append is sent again, for example when a server stopped; an append that was stored is found and not repeated.',
  ),

  // storage
  dataDir: as('.millrace', 'A directory in the working directory; no other directory is written to.'),
  sealKeyFile: derived(
    '<data dir>/seal.key',
    ({ dataDir }) => join(dataDir, 'seal.key'),
    'Outside JetStream, so that a copy of the journal does not open the secrets in it.',
  ),
  encryptionKey: unset(
    'Encrypts stored data: the data key in <data dir>/data.key is sealed with it. For a new data directory; give a reference (file:, env:, exec:), so that a key service can hold it.',
    'no encryption',
  ),
  encryptionNextKey: unset(
    'The key that `millrace encryption rotate` seals the data key with in addition; no other part reads it.',
  ),
  fsync: as('always', 'Acknowledged writes survive a power failure.'),
  replicas: as(1, 'One server holds one replica; set 3 for a cluster of three.'),
  allowUnsynced: as(
    false,
    'Without sync, a power failure of all replicas loses acknowledged writes, so it must be allowed explicitly.',
  ),
  kvShards: derived(
    '4 embedded in one process, otherwise 16',
    ({ isEmbedded, sharedBy }) => (isEmbedded && sharedBy === 1 ? 4 : 16),
    'Fewer shards make larger entries; a cluster needs several for each process. Fixed at the first start.',
  ),
  queueShards: derived(
    '4 embedded in one process, otherwise 16',
    ({ isEmbedded, sharedBy }) => (isEmbedded && sharedBy === 1 ? 4 : 16),
    'As MILLRACE_KV_SHARDS.',
  ),
  auditRetention: as(
    { ageMs: 7 * DAY_MS, bytes: 10 * GIB },
    'One week to notice a mistake, or less if the disk space runs out earlier.',
  ),
  auditDir: unset(
    'A directory for the audit log of all accounts: a file of JSON lines for each day, which Millrace never removes (docs/operations/audit-export.md).',
    'no files',
  ),
  journalTotalBytes: unset(
    'The size of all journals together; above it the largest journals drop history earlier. Entries that are not in two snapshots always stay.',
    'a quarter of the file system; 128GiB in a cluster',
  ),
  diskReserveBytes: as(
    128 * MIB,
    'With less free space, requests that grow data are refused with 503, so that deletes, claims and snapshots still have room. 0 turns it off.',
  ),
  snapshotEntries: as(50_000, 'Half of the tail that a restart must be able to replay within eight seconds.'),
  snapshotBytes: as(
    192 * MIB,
    'About three seconds of replay; more frequent snapshots cost a core under heavy writes.',
  ),
  statisticsSnapshotBytes: as(
    16 * MIB,
    'A snapshot of the statistics is made after this much of the meter log, or after the size of the last snapshot if that is more.',
  ),

  // backups
  backupTo: unset(
    'The place of continuous backups: journals are copied there every few seconds, and a full backup once a day (docs/operations/backups-elsewhere.md).',
    'no continuous backups',
  ),
  backupRoundMs: as(5_000, 'A copied write is at most 10 seconds old, also when a round takes some seconds.'),
  backupFullMs: as(
    86_400_000,
    'A restore reads one full backup and the rounds after it; a day of rounds is read within minutes.',
  ),
  backupKeepMs: as(
    2_592_000_000,
    'Damage by a person or a program is found within a month; each moment since then can be restored.',
  ),
  backupS3Endpoint: unset('The address of an S3-compatible service.', 'the one that the SDK knows for the region'),
  backupS3Region: as('us-east-1', 'Most services other than the first one accept it.'),
  backupS3KeyId: unset(
    'The id of the access key. Give a reference (file:, env:, exec:).',
    'credentials of the machine: variables, profiles or roles, as the SDK finds them',
  ),
  backupS3Secret: unset('The secret of the access key. Give a reference (file:, env:, exec:).'),
  backupS3Lock: as(
    'governance',
    'A bucket with object lock is meant to keep objects; a bucket without it is not affected.',
  ),

  // ownership
  sessionHeartbeatMs: as(500, 'Six heartbeats must be missed before anyone takes over.'),
  leaseRenewalMs: as(1_000, 'Half of the read lease, so that one lost renewal costs nothing.'),
  readLeaseMs: as(2_000, 'The time that a new owner waits before it acknowledges writes; short enough for clients.'),
  readLeaseMarginMs: as(
    500,
    'A margin that a new owner adds to the wait; twice the longest suspension that an owner may not notice.',
  ),
  takeoverSilenceMs: as(3_000, 'Longer than the read lease and than a long garbage collection.'),
  placementLoadMs: as(
    60_000,
    'A process whose shards take more than their share of processor time for this long gives one shard away; 0 turns it off. Shorter peaks are not worth a move.',
  ),
  clockJumpMs: as(250, 'The clocks of a running machine drift apart far less; those of a suspended one far more.'),
  clockSkewMs: as(
    2_000,
    'Machines that are kept in time differ by milliseconds; a delay or TTL that is off by two seconds is noticed.',
  ),
  clockTrust: as(
    'compared',
    'machine, for one start: the clock was wrong before and is right now, although the last run and other processes disagree.',
  ),
  controlStaleMs: as(500, 'A revoked token must stop within a second, and the journal says it is alive every 250 ms.'),
  requestHoldMs: as(
    5_000,
    'A takeover or a short load ends within this time. After it no command is started, and the client gets 503 at most one second later; a write that its owner is already storing is waited for up to 10 s more.',
  ),
  commandMemoryMs: as(600_000, 'An edge stops repeating after 60 s; ten times that survives a takeover in between.'),
  reads: as('lease', 'Linearizable without an append; barrier does not even trust the clock of the machine.'),

  // bounds
  maxCommandBytes: as(10 * MIB, 'The documented size of one command; a database can have its own value.'),
  maxAnswerBytes: as(
    64 * MIB,
    'Six of the largest strings, and an eighth of a small heap. A reply refers to stored values and is expanded when it is written.',
  ),
  maxRequestsPerDay: as(0, 'No limit by default; a database can have its own value. 0: no limit.'),
  mailboxCommands: as(
    100_000,
    'About three seconds of work: a command that would wait longer than the hold time is refused immediately.',
  ),
  mailboxBytes: as(64 * MIB, 'Six of the largest commands for each shard, a small part of the heap.'),
  turnCommands: as(1_000, 'Full entries under load; more would only delay the first reply.'),
  turnBytes: as(256 * KIB, 'An entry that size costs little more to sync than a small one.'),
  turnMs: as(5, 'A quarter of the 20 ms that one piece of work may block the event loop.'),
  commandMs: as(
    5_000,
    'The longest work of a command or a transaction, in slices: the same as of a script. A database can have a lower value, not a higher one.',
  ),
  scriptMs: as(
    5_000,
    'The time after which Redis allows a script to be killed; a database can have a lower value, not a higher one.',
  ),
  scriptHoldMs: as(
    250,
    'Other commands wait while a script cannot be interrupted; more than a quarter of a second would look like an outage.',
  ),
  entryChunkBytes: as(512 * KIB, 'Half of the max_payload of a NATS server, with room for headers.'),
  busMessageBytes: as(
    64 * MIB,
    'Commands to an owner in another process and their replies; more than the largest command.',
  ),
  expiryKeys: as(200, 'Keys journaled as deleted in one turn: an entry of some 10 KiB.'),

  ...DELIVERY_DEFAULTS,

  // prices
  queuePriceCents: as(
    0,
    'The price of 100,000 messages. Without a price no costs are shown and budgets have no effect.',
  ),
  kvPriceCents: as(0, 'The price of 100,000 commands, like MILLRACE_QUEUE_PRICE_CENTS.'),
  searchPriceCents: as(0, 'The price of 100,000 queries, updated documents and units of reranking.'),
  storagePriceCents: as(0, 'The price of one GiB of keys and values or documents for a month, counted by day.'),
  freeStorageBytes: as(0, 'Free storage of each database, before MILLRACE_STORAGE_PRICE_CENTS applies.'),
  bandwidthPriceCents: as(0, 'The price of one GiB of traffic: requests, responses and delivered bodies.'),
  freeBandwidthBytes: as(
    0,
    'Free traffic of each database and account in a month, before MILLRACE_BANDWIDTH_PRICE_CENTS applies.',
  ),

  // alerts
  alertLookMs: as(
    10_000,
    'Time between two evaluations of the alert rules by the owner of the control shard. A state is raised when two successive ones show it.',
  ),
  smtpUrl: unset(
    'The mail server for notices of alerts and mails to customers, with user and password: smtp://user:password@host:587, or smtps:// for TLS from the first byte. Without it a rule can have no channel of the type email, and an application no email.',
  ),
  smtpFrom: unset('The sender of the mails; set together with MILLRACE_SMTP_URL.'),

  // vectors and embeddings
  vectorPrecision: as(
    'F32',
    'Queries to indexes of vectors without a precision compare the stored numbers of 32 bits. F16 halves their memory in the process with the role projection, I8 (bytes) quarters it; scores then differ by about 0.0001 and 0.005. Stored vectors stay the same.',
  ),
  embeddingsUrl: unset(
    'The base URL of a server of embeddings, with the version in its path, such as http://127.0.0.1:11434/v1: texts are sent to /embeddings under it. Without it texts of indexes of vectors are hashed.',
  ),
  embeddingsKey: unset('Its key, sent as a bearer token.'),
  embeddingsModel: unset('The model that it is asked for; by default the embedding model of the index.'),

  // tracing
  otlpEndpoint: unset(
    'The base URL of a collector for OTLP over HTTP, usually on port 4318; spans are sent to /v1/traces under it. Without it tracing is off and its code is not loaded.',
  ),
  otlpHeaders: unset('Headers for the collector, such as authorization=Bearer and a token.'),
  traceRatio: as(
    0.01,
    'The share of requests that are traced, from 0 to 1. One in a hundred shows the usual case at little cost; 1 is for development. For a request with a trace header, the header decides.',
  ),

  // first start
  kvToken: generated('The first database works without a call to the management API.'),
  kvReadonlyToken: generated('Like MILLRACE_KV_TOKEN, read-only.'),
  kvPassword: generated('The password of the first database on the RESP endpoint.'),
  queueToken: generated('The first account; workflow clients read UserID from it.'),
  queueReadonlyToken: generated('Like MILLRACE_QUEUE_TOKEN, read-only.'),
  mgmtEmail: generated('The name of the first account of the management API.'),
  mgmtKey: generated('The key of the first account of the management API.'),
  signingKeyCurrent: generated('The key that signs deliveries.'),
  signingKeyNext: generated('The key that will sign deliveries after the next rotation.'),
} as const satisfies Record<string, Default>;

/** Can only this machine connect to a listener on `host`? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
