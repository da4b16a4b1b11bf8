/**
 * The layout of an installation, and its creation, which happens once.
 *
 *  CL1 a stream is created only while the layout record is incomplete, by the process that holds its attempt
 *  CL2 two simultaneous initialisations make one installation: the loser waits for the winner
 *  CL3 an interrupted initialisation is finished by the next one, under the same cluster id
 *  CL4 a complete layout never changes, except for the key that seals secrets (`layout-seal-key.ts`) and the level of
 *      formats (`layout-format.ts`); a request for another layout is refused
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { StreamInfo } from '@nats-io/jetstream';
import { nuid } from 'nats';
import { isMillraceError, MillraceError } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { JETSTREAM_ERRORS, JetStreamApi, refusalOf } from './jetstream-api.js';
import type { JetStreamLeaseStore } from './jetstream-lease-store.js';
import {
  type ClusterLayout,
  decodeLayout,
  encodeLayout,
  LAYOUT_KEY,
  type LayoutRecord,
  layoutOf,
  layoutStore,
  type VersionedLayout,
} from './layout-record.js';
import { isForbidden } from './link-failure.js';
import { askServers, checkReplication } from './server-status.js';
import { type DeclaredCounts, declareBucket, declareStreams, type StreamDeclaration } from './streams.js';
import { Names } from './subjects.js';

export interface InitOptions extends DeclaredCounts {
  readonly prefix: string;
  /** Accepts replicas on servers that do not sync every write. */
  readonly allowUnsynced?: boolean;
  /** The only server, started by this process; the number of servers is then not asked for, which takes 0.3 s. */
  readonly isOwnServer?: boolean;
  /** Called when the creation of an own server's streams has been requested. */
  readonly onAsked?: () => void;
  /** An attempt without progress for this long is taken over. Default 10 s: longer than an election. */
  readonly stalledAfterMs?: number;
}

const DEFAULT_STALLED_AFTER_MS = 10_000;
const TIMEOUT_MS = 120_000;
const LOOK_EVERY_MS = 100;
/** Progress is recorded after this many streams, for a waiting initialisation; an own server has none. */
const STREAMS_AT_ONCE = 8;
/** Temporary errors of a cluster that has just started. */
const NOT_YET = new Set<number>([
  JETSTREAM_ERRORS.insufficientResources,
  JETSTREAM_ERRORS.noSuitablePeers,
  JETSTREAM_ERRORS.temporarilyUnavailable,
  JETSTREAM_ERRORS.anotherInFlight,
]);
const MOST_SHARDS = 1024;

/**
 * Creates everything once, or waits for the process that does. May be repeated: a complete and equal layout is returned
 * unchanged.
 * @throws CONFLICT when another layout exists; BAD_CONFIG when the servers cannot hold it;
 *         JOURNAL_DAMAGED when journals exist without their layout
 */
export async function initCluster(connections: NatsConnections, options: InitOptions): Promise<ClusterLayout> {
  checkCounts(options);
  checkReplication({
    replicas: options.replicas,
    servers: options.isOwnServer ? 'unknown' : await askServers(connections, options.replicas),
    atLeast: options.replicas,
    connectedVersions: connections.serverVersions(),
    allowUnsynced: options.allowUnsynced ?? false,
  });
  return new Initialisation(connections, options).run();
}

class Initialisation {
  readonly #names: Names;
  readonly #api: JetStreamApi;
  readonly #store: JetStreamLeaseStore;
  readonly #attempt = nuid.next();
  readonly #deadlineMs: number;

  constructor(
    connections: NatsConnections,
    private readonly options: InitOptions,
  ) {
    this.#names = new Names(options.prefix);
    this.#api = new JetStreamApi(connections.control);
    this.#store = layoutStore(connections, this.#names);
    this.#deadlineMs = performance.now() + TIMEOUT_MS;
  }

  async run(): Promise<ClusterLayout> {
    await this.#create(declareBucket(this.#names, 'layout', this.options.replicas));
    let seenRevision = 0;
    let seenAtMs = performance.now();
    for (;;) {
      this.#checkDeadline();
      const found = await this.#find();
      if (found === undefined) {
        await this.#begin();
        continue;
      }
      this.#checkEqual(found.record);
      if (found.record.complete) return layoutOf(found.record);
      if (found.record.attempt === this.#attempt) {
        await this.#build(found);
        continue;
      }
      if (found.revision !== seenRevision) {
        seenRevision = found.revision;
        seenAtMs = performance.now();
      }
      if (performance.now() - seenAtMs >= (this.options.stalledAfterMs ?? DEFAULT_STALLED_AFTER_MS)) {
        await this.#write({ ...found.record, attempt: this.#attempt }, found.revision);
      } else {
        await pause(LOOK_EVERY_MS);
      }
    }
  }

  /** Writes the first record; the next read shows whether another process was first. */
  async #begin(): Promise<void> {
    const names = await this.#patiently(() =>
      this.#api.ask(({ streams }) => streams.names(this.#names.allJournalSubjects()).next()),
    );
    if (names.length > 0 && (await this.#find()) === undefined) {
      const message =
        'there are journals without a layout: the layout was lost, or the journals belong to another program';
      throw new MillraceError('JOURNAL_DAMAGED', message, { streams: names });
    }
    const { kvShards, queueShards, replicas } = this.options;
    const record: LayoutRecord = {
      version: 1,
      clusterId: nuid.next(),
      kvShards,
      queueShards,
      replicas,
      complete: false,
      attempt: this.#attempt,
      streams: {},
    };
    await this.#store.create(LAYOUT_KEY, encodeLayout(record));
  }

  /** Ends when the layout is complete or another process has taken over. */
  async #build(found: VersionedLayout): Promise<void> {
    let { record, revision } = found;
    const declarations = declareStreams(this.#names, record).filter(({ key }) => record.streams[key] === undefined);
    const atOnce = this.options.isOwnServer ? declarations.length : STREAMS_AT_ONCE;
    for (let at = 0; at < declarations.length; at += atOnce) {
      // The record is also written before the streams, because an attempt that was taken over must not create more.
      const held = await this.#write(record, revision);
      if (held === undefined) return;
      const some = declarations.slice(at, at + atOnce);
      const creating = some.map(
        async (declaration) => [declaration.key, (await this.#create(declaration)).created] as const,
      );
      this.options.onAsked?.();
      const created = await Promise.all(creating);
      record = { ...record, streams: { ...record.streams, ...Object.fromEntries(created) } };
      revision = held;
    }
    await this.#write({ ...record, complete: true }, revision);
  }

  async #create({ config }: StreamDeclaration): Promise<StreamInfo> {
    try {
      return await this.#patiently(() => this.#api.createStream(config));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      const isOther = refusal.code === JETSTREAM_ERRORS.streamNameInUse;
      const reason = isOther ? 'it exists with other settings' : `${refusal.message} (${refusal.code})`;
      throw new MillraceError(
        isOther ? 'CONFLICT' : 'BAD_CONFIG',
        `cannot create stream ${config.name}: ${reason}`,
        {},
        error,
      );
    }
  }

  #find(): Promise<VersionedLayout | undefined> {
    return this.#patiently(async () => {
      const found = await this.#store.get(LAYOUT_KEY);
      return found === undefined ? undefined : { record: decodeLayout(found.value), revision: found.revision };
    });
  }

  /** Repeats the request while the servers do not answer or are starting. */
  async #patiently<T>(question: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await question();
      } catch (error) {
        const refusal = refusalOf(error);
        const isPassing =
          refusal === undefined
            ? isMillraceError(error, 'JOURNAL_UNAVAILABLE') && !isForbidden(error.cause)
            : NOT_YET.has(refusal.code);
        if (!isPassing) throw error;
        this.#checkDeadline(error);
        await pause(LOOK_EVERY_MS);
      }
    }
  }

  /** The new revision; undefined after a conflict or an unknown outcome. */
  async #write(record: LayoutRecord, revision: number): Promise<number | undefined> {
    const outcome = await this.#store.update(LAYOUT_KEY, encodeLayout(record), revision);
    return outcome.kind === 'stored' ? outcome.revision : undefined;
  }

  #checkEqual(record: LayoutRecord): void {
    const { kvShards, queueShards, replicas } = this.options;
    const isEqual = record.kvShards === kvShards && record.queueShards === queueShards && record.replicas === replicas;
    if (isEqual) return;
    const has = `${record.kvShards} kv shards, ${record.queueShards} queue shards, ${record.replicas} replicas`;
    const details = { wanted: { kvShards, queueShards, replicas } };
    throw new MillraceError('CONFLICT', `this installation has another layout: ${has}`, details);
  }

  #checkDeadline(cause?: unknown): void {
    if (performance.now() < this.#deadlineMs) return;
    throw new MillraceError('JOURNAL_UNAVAILABLE', 'the installation could not be initialised in time', {}, cause);
  }
}

function checkCounts({ kvShards, queueShards, replicas }: DeclaredCounts): void {
  for (const [name, count] of Object.entries({ kvShards, queueShards })) {
    if (!Number.isInteger(count) || count < 1 || count > MOST_SHARDS) {
      throw new MillraceError('BAD_CONFIG', `${name} must be a whole number from 1 to ${MOST_SHARDS}`, {
        [name]: count,
      });
    }
  }
  if (replicas !== 1 && replicas !== 3 && replicas !== 5) {
    throw new MillraceError('BAD_CONFIG', 'replicas must be 1, 3 or 5', { replicas });
  }
}
