/**
 * The subjects that each user of the nats-servers may publish and subscribe to: only those that its role needs
 * (docs/decisions/cluster.md).
 *
 *  NRI1 only owners and the operator's commands append to journals; an edge appends to intakes and the meter
 *  NRI2 no user may remove a stream, and only owners and commands remove messages of journals and leases
 *  NRI3 no user may read another user's inboxes
 *  NRI4 a new kind of topic compiles only when it has a user here
 */

import type { Topic } from '../../ports/index.js';
import { CONTROL_SHARD, METER_SHARD } from '../../protocol/index.js';
import { type DeclaredCounts, shardNames } from './streams.js';
import {
  ALL_FLOW_CONTROL,
  ALL_SERVERS_QUESTIONS,
  allInboxes,
  jetStreamApiSubject,
  type Names,
  type NatsUser,
} from './subjects.js';

export interface Rights {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer a request once, on any subject. */
  readonly answers: boolean;
}

type Part = 'edge' | 'owner' | 'projection' | 'operator';
type Counts = Pick<DeclaredCounts, 'kvShards' | 'queueShards'>;

/** The senders and the receivers of a topic. NRI4 */
const TOPICS: Record<Topic['kind'], { readonly from: readonly Part[]; readonly to: readonly Part[] }> = {
  command: { from: ['edge', 'owner', 'operator'], to: ['owner'] },
  session: { from: ['edge', 'owner', 'operator'], to: ['edge', 'owner', 'projection'] },
  edge: { from: ['owner'], to: ['edge'] },
  heartbeat: { from: ['edge', 'owner', 'projection'], to: ['edge', 'owner', 'projection', 'operator'] },
  query: { from: ['edge', 'owner', 'operator'], to: ['projection'] },
  access: { from: ['edge', 'owner'], to: ['owner'] },
  search: { from: ['edge', 'operator'], to: ['projection'] },
  notice: { from: ['edge', 'owner', 'projection'], to: ['owner'] },
};

/** Reading: every process compares the layout, follows the control journal, and answers questions about the past. */
const READING = [
  'INFO',
  'STREAM.INFO.*',
  'STREAM.LIST',
  'STREAM.NAMES',
  'STREAM.MSG.GET.*',
  'CONSUMER.CREATE.>',
  'CONSUMER.DELETE.>',
  'CONSUMER.MSG.NEXT.>',
];

const PARTS: Record<Exclude<NatsUser, 'system'>, readonly Part[]> = {
  edge: ['edge'],
  owner: ['owner'],
  projection: ['projection'],
  process: ['edge', 'owner', 'projection'],
  operator: ['operator'],
};

export function rightsOf(user: NatsUser, names: Names, counts: Counts): Rights {
  const subscribe = [allInboxes(user)];
  if (user === 'system') return { publish: [ALL_SERVERS_QUESTIONS], subscribe, answers: false };
  const parts = PARTS[user];
  const kinds = Object.keys(TOPICS) as Topic['kind'][];
  const spoken = kinds.filter((kind) => TOPICS[kind].from.some((part) => parts.includes(part)));
  const heard = kinds.filter((kind) => TOPICS[kind].to.some((part) => parts.includes(part)));
  const publish = [
    ...spoken.map((kind) => names.allTopics(kind)),
    names.allBulkSubjects(),
    ...READING.map(jetStreamApiSubject),
    ALL_FLOW_CONTROL,
    ...parts.flatMap((part) => WRITING[part](names, shardNames(counts))),
  ];
  return {
    publish: [...new Set(publish)],
    subscribe: [...subscribe, ...heard.map((kind) => names.allTopics(kind)), names.allBulkSubjects(user)],
    // An owner may answer a batch of commands with several messages.
    answers: !parts.includes('owner'),
  };
}

/** The data that each role stores and removes. */
const WRITING: Record<Part, (names: Names, shards: ReturnType<typeof shardNames>) => string[]> = {
  edge: (names, { intake }) => [
    ...[...intake, METER_SHARD].map((log) => names.journalSubject(log)),
    ...ofSessions(names),
    // The process that gets the request for a backup of a moment stores it.
    ...ofObjects(names),
  ],
  owner: (names, { kv, queue, intake }) => {
    const journals = [...kv, ...queue, CONTROL_SHARD];
    return [
      ...[...journals, METER_SHARD].map((log) => names.journalSubject(log)),
      ...[...journals, ...intake].map((log) => purges(names.journalStream(log))),
      names.bucketSubjects('leases'),
      purges(names.bucketStream('leases')),
      // Leaders are spread over the servers.
      jetStreamApiSubject('STREAM.LEADER.STEPDOWN.*'),
      // The record of the seal key.
      names.bucketSubjects('layout'),
      ...ofObjects(names),
      allInboxes(),
    ];
  },
  projection: (names) => [
    // The front of the meter log is removed when the snapshots of the statistics contain it.
    purges(names.journalStream(METER_SHARD)),
    ...ofSessions(names),
    ...ofObjects(names),
  ],
  operator: (names) => [
    jetStreamApiSubject('STREAM.CREATE.*'),
    jetStreamApiSubject('STREAM.PURGE.*'),
    names.allJournalSubjects(),
    names.bucketSubjects('leases'),
    names.bucketSubjects('layout'),
    ...ofObjects(names),
  ],
};

function ofSessions(names: Names): string[] {
  return [names.bucketKeysOf('leases', 'session'), names.bucketKeySubject('leases', 'boot-times')];
}

function ofObjects(names: Names): string[] {
  const { chunks, descriptions } = names.objectSubjects();
  return [chunks, descriptions, purges(names.objectStream())];
}

function purges(stream: string): string {
  return jetStreamApiSubject(`STREAM.PURGE.${stream}`);
}
