/**
 * Subscribers over RESP and over event streams at both workers, and a publisher of increasing numbers. During a fault a
 * subscriber may miss numbers; it hears none twice, and none after a later one.
 */
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { ownerOfConnection } from './connection-owner.js';
import { eventually } from './eventually.js';
import { KvClient } from './kv-client.js';
import { PASSWORD, TOKEN } from './millrace-process.js';
import type { WorkersStand } from './workers-stand.js';

const CHANNEL = 'numbers';
const BETWEEN_PUBLISHES_MS = 30;
/** The supervisor gives connections in turn, also those of other clients. */
const MOST_STREAMS = 20;
const HEARD_WITHIN = { timeoutMs: 30_000 };
const MESSAGE = /^data: message,[^,]*,(\d+)$/gm;

class Subscriber {
  readonly heard: number[] = [];
  isClosed = false;

  constructor(
    readonly kind: 'RESP' | 'event stream',
    readonly worker: number,
    readonly close: () => void,
  ) {}
}

export class WorkerSubscribers {
  readonly #subscribers: Subscriber[] = [];
  readonly #publisher: KvClient;
  #published = 0;
  #isOver = false;
  #publishing = Promise.resolve();

  private constructor(private readonly stand: WorkersStand) {
    this.#publisher = new KvClient({ url: stand.installation.addresses.kv ?? '', token: TOKEN, connections: 1 });
  }

  /** Call this when both workers serve. */
  static async begin(stand: WorkersStand): Promise<WorkerSubscribers> {
    const subscribers = new WorkerSubscribers(stand);
    const workers = await stand.workers();
    await subscribers.#subscribeOverResp(workers);
    await subscribers.#subscribeOverHttp(workers);
    subscribers.#publishing = subscribers.#publish();
    await subscribers.#hearAll(workers);
    return subscribers;
  }

  /** Checks that subscribers at these workers have kept their connections and hear new numbers, and ends. */
  async end(workers: readonly number[]): Promise<void> {
    try {
      await this.#hearAll(workers);
    } finally {
      this.#isOver = true;
      await this.#publishing;
      this.#publisher.close();
      for (const { close } of this.#subscribers) close();
    }
    for (const { heard, kind, worker } of this.#subscribers) {
      const isInOrder = heard.every((number, at) => at === 0 || number > (heard[at - 1] ?? 0));
      expect(isInOrder, `${kind} at ${worker} hears each number once, in order: ${heard.join(' ')}`).to.equal(true);
    }
  }

  #hearAll(workers: readonly number[]): Promise<void> {
    const after = this.#published;
    const theirs = this.#subscribers.filter(({ worker }) => workers.includes(worker));
    return eventually(() => {
      for (const { kind, worker, isClosed, heard } of theirs) {
        const subscriber = `${kind} at worker ${worker}`;
        expect(isClosed, `${subscriber} is closed`).to.equal(false);
        expect(heard.at(-1) ?? 0, `${subscriber} hears`).to.be.greaterThan(after);
      }
    }, HEARD_WITHIN);
  }

  async #publish(): Promise<void> {
    while (!this.#isOver) {
      this.#published += 1;
      await this.#publisher.command('PUBLISH', CHANNEL, this.#published);
      await setTimeout(BETWEEN_PUBLISHES_MS);
    }
  }

  async #subscribeOverResp(workers: readonly number[]): Promise<void> {
    for (const client of await this.stand.clientsOfWorkers(PASSWORD)) {
      const { localPort } = client.stream as { localPort?: number };
      const subscriber = await this.#note('RESP', localPort, workers, () => client.disconnect());
      client.on('message', (_, text: string) => subscriber.heard.push(Number(text)));
      client.once('close', () => {
        subscriber.isClosed = true;
      });
      await client.subscribe(CHANNEL);
    }
  }

  async #subscribeOverHttp(workers: readonly number[]): Promise<void> {
    for (let count = 0; count < MOST_STREAMS && !this.#hasStreamsAt(workers); count += 1) {
      await this.#openStream(workers);
    }
    expect(this.#hasStreamsAt(workers), 'an event stream at each worker').to.equal(true);
  }

  #hasStreamsAt(workers: readonly number[]): boolean {
    const streams = this.#subscribers.filter(({ kind }) => kind === 'event stream');
    return workers.every((pid) => streams.some(({ worker }) => worker === pid));
  }

  async #openStream(workers: readonly number[]): Promise<void> {
    const headers = { accept: 'text/event-stream' };
    // Without the header the connection goes to the worker with the fewest, and not to the owner of the database.
    const url = `${this.stand.installation.addresses.kv}/subscribe/${CHANNEL}?_token=${TOKEN}`;
    await new Promise<void>((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent: false, headers }, async (response) => {
        let text = '';
        const noted = this.#note('event stream', response.socket.localPort, workers, () => sent.destroy());
        const end = () => void noted.then((subscriber) => Object.assign(subscriber, { isClosed: true }));
        response.on('error', end).on('end', end);
        response.setEncoding('utf8').on('data', async (piece: string) => {
          text += piece;
          const { heard } = await noted;
          heard.splice(0, heard.length, ...[...text.matchAll(MESSAGE)].map(([, number]) => Number(number)));
        });
        noted.then(() => resolve(), reject);
      });
      sent.once('error', reject);
      sent.end('[]');
    });
  }

  async #note(
    kind: Subscriber['kind'],
    localPort: number | undefined,
    workers: readonly number[],
    close: () => void,
  ): Promise<Subscriber> {
    const worker = await ownerOfConnection(localPort ?? 0, workers);
    const subscriber = new Subscriber(kind, worker ?? 0, close);
    this.#subscribers.push(subscriber);
    return subscriber;
  }
}
