/** The defaults of destinations, deliveries and the messages that wait for them, with their reasons. */
import { as, type Default, derived, GIB, KIB, MIB, type Surroundings, unset } from './default.js';

const DAY_MS = 86_400_000;

export const DELIVERY_DEFAULTS = {
  // destinations
  allowPrivateDestinations: {
    ...derived(
      'true embedded on a loopback host without a public URL or a trusted proxy, else false',
      (s) => s.isEmbedded && s.exposedBy === undefined,
      'During development receivers are local; in production private addresses are targets of attacks. Link-local addresses, such as the metadata services of clouds, are always refused.',
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
    'Only the private receivers in this list are reachable. Link-local addresses need a range that contains no other addresses.',
  ),

  // delivery
  deliveryConcurrency: as(
    1000,
    'The number of parallel calls of a process, for all accounts: about 100 MB if every response is long and cut at 64 KiB.',
  ),
  deliveryPerOrigin: as(200, 'Sockets to one destination, and its largest share of the parallel calls.'),
  deliveryConnectTimeoutMs: as(
    10_000,
    'A host that takes longer to accept a connection will not answer in time either.',
  ),
  deliveryLookupTimeoutMs: as(
    5_000,
    'A silent name server has been asked three times by then. The connection timeout does not include this time.',
  ),
  deliveryLookups: as(1_000, 'Parallel name lookups, as many as calls. Above it, the oldest unanswered lookup fails.'),
  deliveryNameServers: as([], 'The servers of /etc/resolv.conf, as for other programs of the machine.'),
  deliveryOverheadBytes: as(
    1 * MIB,
    'All bytes of a response except its body: 32 KiB of headers, interim responses, and the framing of 64 KiB in chunks of one byte.',
  ),
  deliveryAnswerBytes: as(
    128 * MIB,
    'Memory for responses longer than 64 KiB that are read for callbacks and workflows, for all accounts: a hundred of one MiB. Further responses are read later.',
  ),
  queueBodyMemoryBytes: as(
    96 * MIB,
    'Memory for bodies of waiting messages; further bodies are read from the journal when they are due.',
  ),
  queueMemoryBytes: unset(
    'Memory for waiting messages of all accounts, about 280 bytes each; one account may use nine tenths. Bodies leave memory to make room for them.',
    '25 % of MILLRACE_MEMORY_BYTES',
  ),
  triggerMemoryBytes: unset(
    'Memory for copies of databases, of all triggers with values or filters, and while a snapshot is sent; one account may use half. A trigger without room waits.',
    '40 % of MILLRACE_MEMORY_BYTES',
  ),
  queueMaxMessages: as(
    10_000_000,
    'Waiting messages of one account, with its DLQ: more than five gigabytes of heap. In a smaller process, memory is the limit.',
  ),
  queueMaxBytes: as(
    16 * GIB,
    'Bytes of bodies, headers and URLs of the waiting messages of one account. On disk they use up to twice as much, and the same in each snapshot.',
  ),
  queueTellAfterMs: as(
    1_000,
    'An owner that does not answer a publish within this time is loading or has stopped; the message is stored in the intake instead.',
  ),
  workflowInlineBytes: as(
    1 * MIB,
    'A step is delivered with all earlier entries of its run, in base64; if they are larger than this, the endpoint fetches them.',
  ),
  logRetentionMs: as(14 * DAY_MS, 'Two weeks of message events; older events leave the read model.'),
  deliveredAnswerBytes: as(
    4 * KIB,
    'Headers and the beginning of the body of an answer to a successful attempt: enough to see its cause, and a small part of the journal. 0 keeps none.',
  ),
  deliveredAnswerRetentionMs: as(
    3 * DAY_MS,
    'A delivery that is asked about was made in the last days; older answers of successful attempts leave the read model.',
  ),
  region: unset(
    'By default deliveries carry no region; a region name lets receivers choose between keys of two regions.',
  ),
} as const satisfies Record<string, Default>;
