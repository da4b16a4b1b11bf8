/**
 * A process that owns the queue, connected to its nats-server through a proxy, and a second process that serves the
 * clients. Tests kill the owner at chosen points and start the next owner when they need it.
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

/** A short limit, so that requests without an answer end soon. */
const HOLD_MS = 1500;

const SETTINGS: Environment = {
  ...QUEUE_SETTINGS,
  MILLRACE_REQUEST_HOLD_MS: String(HOLD_MS),
  MILLRACE_QUEUE_TELL_AFTER_MS: '300',
  // The serving process accepts outdated permissions, because it must answer while the queue has no owner.
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

  /** The owner of the queue, started if there is none. */
  async owner(): Promise<MillraceProcess> {
    this.#owner ??= await this.startOwner();
    return this.#owner.millrace;
  }

  get proxy(): NatsProxy {
    return (this.#owner as { proxy: NatsProxy }).proxy;
  }

  /**
   * Starts another process that can own the queue; resolves when it serves the queue. All earlier owners must be dead
   * or frozen.
   */
  async startOwner(): Promise<{ readonly millrace: MillraceProcess; readonly proxy: NatsProxy }> {
    const proxy = await NatsProxy.start(this.nats.port, 'QUEUE');
    this.#proxies.push(proxy);
    const millrace = await this.cluster.start({ MILLRACE_ROLES: 'queue', MILLRACE_NATS_URL: proxy.url });
    await eventually(() => expect(servingEpochOf(millrace, SHARD)).to.be.greaterThan(0), {
      timeoutMs: BACK_TIMEOUT_MS,
    });
    await eventually(() => this.client.ask('GET', '/v2/queues'), { timeoutMs: BACK_TIMEOUT_MS });
    return { millrace, proxy };
  }

  /** Starts the successor of a dead or frozen owner. */
  async succeed(): Promise<MillraceProcess> {
    this.#owner = await this.startOwner();
    return this.#owner.millrace;
  }

  /** Kills the owner. Data that it has sent and the nats-server has not received is lost. */
  async killOwner(): Promise<void> {
    const { millrace, proxy } = this.#owner as { millrace: MillraceProcess; proxy: NatsProxy };
    this.#owner = undefined;
    await millrace.kill('SIGKILL');
    // Closing the proxy drops the stalled data.
    await proxy.close();
    this.#proxies.splice(this.#proxies.indexOf(proxy), 1);
  }

  publish(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PublishOutcome> {
    return this.client.publish(`/v2/publish/${this.sink.url(path)}`, path, headers);
  }

  /** Publishes a message. @throws if it is not accepted */
  async accepted(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const outcome = await this.publish(path, headers);
    if (outcome.kind !== 'accepted') throw new Error(`${outcome.kind}: ${outcome.why}`);
    return outcome.id;
  }

  events(): Promise<QueueEvent[]> {
    return queueEventsOf(this.journal, SHARD);
  }

  /** The journaled events of one type, for messages to a path. */
  async eventsTo<Type extends QueueEvent['type']>(path: string, type: Type): Promise<EventOf<Type>[]> {
    const events = await this.events();
    const ids = new Set<string>();
    for (const event of events) {
      if (event.type === 'MessageAccepted' && event.envelope.url === this.sink.url(path)) ids.add(event.id);
    }
    return events.filter((event): event is EventOf<Type> => event.type === type && 'id' in event && ids.has(event.id));
  }

  /** Waits until the journal contains this number of events. */
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

  /** Waits until a new message is delivered and no message is in flight. */
  async quiet(): Promise<void> {
    const path = this.sink.path('marker');
    await this.accepted(path);
    await this.sink.arrived(path);
    await eventually(async () => expect(await this.client.callsInFlight()).to.equal(0), { timeoutMs: BACK_TIMEOUT_MS });
  }

  /** The number of messages in the intake that the owner has not taken. */
  async inIntake(): Promise<number> {
    const { state } = await (await jetstreamManager(this.watcher)).streams.info('INTAKE_0');
    return state.messages;
  }
}
