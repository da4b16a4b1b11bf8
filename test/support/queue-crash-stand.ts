/**
 * One process that owns the queue, behind a proxy to its nats-server, and another with the face that clients
 * use: owners are killed at chosen points, and the next one is started only when a test wants one.
 */
import { jetstreamManager } from '@nats-io/jetstream';
import { expect } from 'chai';
import { connect, type NatsConnection } from 'nats';
import type { QueueEvent, QueueEventOf } from '../../src/domain/queue/index.js';
import { eventually } from './eventually.js';
import type { JournalReader } from './journal-reader.js';
import { MillraceCluster, type NatsFacts, servingEpochOf, startPlainNats } from './millrace-cluster.js';
import { type Environment, endEverything, type MillraceProcess } from './millrace-process.js';
import { NatsProxy } from './nats-proxy.js';
import { ConservationClient, type PublishOutcome } from './queue-conservation-client.js';
import { queueEventsOf } from './queue-conservation-journal.js';
import { BACK_TIMEOUT_MS, QUEUE_SETTINGS, SHARD } from './queue-conservation-run.js';
import { QueueSink } from './queue-sink.js';

/** Short, so that what nobody answers is soon over. */
const HOLD_MS = 1500;

const SETTINGS: Environment = {
  ...QUEUE_SETTINGS,
  MILLRACE_REQUEST_HOLD_MS: String(HOLD_MS),
  MILLRACE_QUEUE_TELL_AFTER_MS: '300',
  // The face serves while nobody owns anything: what it knew about accounts is good enough here.
  MILLRACE_CONTROL_STALE_MS: '60000',
};

type EventOf<Type extends QueueEvent['type']> = QueueEventOf<Type>;

export class QueueCrashStand {
  #owner: { readonly millrace: MillraceProcess; readonly proxy: NatsProxy } | undefined;
  readonly #proxies: NatsProxy[] = [];

  private constructor(
    private readonly nats: NatsFacts & { readonly port: number },
    private readonly cluster: MillraceCluster,
    readonly edge: MillraceProcess,
    readonly client: ConservationClient,
    readonly journal: JournalReader,
    readonly sink: QueueSink,
    private readonly watcher: NatsConnection,
  ) {}

  static async start(): Promise<QueueCrashStand> {
    const nats = await startPlainNats();
    const cluster = await MillraceCluster.prepare(nats, SETTINGS);
    const first = await cluster.start({ MILLRACE_ROLES: 'queue' });
    const edge = await cluster.start({ MILLRACE_ROLES: 'edge,projection' });
    const client = new ConservationClient(edge.addresses.queue as string);
    const watcher = await connect({ servers: nats.url, user: nats.user, pass: nats.password });
    const [journal, sink] = [await cluster.reader(), await QueueSink.listening()];
    const stand = new QueueCrashStand(nats, cluster, edge, client, journal, sink, watcher);
    await eventually(() => client.ask('GET', '/v2/queues'), { timeoutMs: BACK_TIMEOUT_MS });
    await first.kill('SIGTERM');
    return stand;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.journal.close();
    await this.watcher.close();
    await this.sink.close();
    await endEverything();
    for (const proxy of this.#proxies) await proxy.close();
    await this.nats.stop();
  }

  /** The one that owns the queue, started when there is none. */
  async owner(): Promise<MillraceProcess> {
    this.#owner ??= await this.startBeside();
    return this.#owner.millrace;
  }

  get proxy(): NatsProxy {
    return (this.#owner as { proxy: NatsProxy }).proxy;
  }

  /** Another process that may own the queue, and serves it when this resolves: the others must be dead or asleep. */
  async startBeside(): Promise<{ readonly millrace: MillraceProcess; readonly proxy: NatsProxy }> {
    const proxy = await NatsProxy.start(this.nats.port, 'QUEUE');
    this.#proxies.push(proxy);
    const millrace = await this.cluster.start({ MILLRACE_ROLES: 'queue', MILLRACE_NATS_URL: proxy.url });
    await eventually(() => expect(servingEpochOf(millrace, SHARD)).to.be.greaterThan(0), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    await eventually(() => this.client.ask('GET', '/v2/queues'), { timeoutMs: BACK_TIMEOUT_MS });
    return { millrace, proxy };
  }

  /** Takes the place of an owner that is dead or asleep. */
  async succeed(): Promise<MillraceProcess> {
    this.#owner = await this.startBeside();
    return this.#owner.millrace;
  }

  /** With everything that the owner has sent and nobody has read. */
  async killOwner(): Promise<void> {
    const { millrace, proxy } = this.#owner as { millrace: MillraceProcess; proxy: NatsProxy };
    this.#owner = undefined;
    await millrace.kill('SIGKILL');
    // With what stalled on its way.
    await proxy.close();
    this.#proxies.splice(this.#proxies.indexOf(proxy), 1);
  }

  publish(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PublishOutcome> {
    return this.client.publish(`/v2/publish/${this.sink.url(path)}`, path, headers);
  }

  /** @throws when it was not accepted */
  async accepted(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const outcome = await this.publish(path, headers);
    if (outcome.kind !== 'accepted') throw new Error(`${outcome.kind}: ${outcome.why}`);
    return outcome.id;
  }

  events(): Promise<QueueEvent[]> {
    return queueEventsOf(this.journal, SHARD);
  }

  /** What the journal holds of messages to a path, of one type. */
  async eventsTo<Type extends QueueEvent['type']>(path: string, type: Type): Promise<EventOf<Type>[]> {
    const events = await this.events();
    const ids = new Set<string>();
    for (const event of events) {
      if (event.type === 'MessageAccepted' && event.envelope.url === this.sink.url(path)) ids.add(event.id);
    }
    return events.filter((event): event is EventOf<Type> => event.type === type && 'id' in event && ids.has(event.id));
  }

  /** Once the journal holds so many. */
  async stored<Type extends QueueEvent['type']>(path: string, type: Type, count = 1): Promise<EventOf<Type>[]> {
    return eventually(
      async () => {
        const events = await this.eventsTo(path, type);
        expect(events.length, `${type} of ${path}`).to.be.at.least(count);
        return events;
      },
      { timeoutMs: BACK_TIMEOUT_MS, everyMs: 20 },
    );
  }

  /** Until a message that is published now has been delivered, and nothing is in flight. */
  async quiet(): Promise<void> {
    const path = this.sink.path('marker');
    await this.accepted(path);
    await this.sink.arrived(path);
    await eventually(async () => expect(await this.client.callsInFlight()).to.equal(0), { timeoutMs: BACK_TIMEOUT_MS });
  }

  /** Messages that were told to the queue's intake and not taken over. */
  async inIntake(): Promise<number> {
    const { state } = await (await jetstreamManager(this.watcher)).streams.info('INTAKE_0');
    return state.messages;
  }
}
