/**
 * Publishes increasing numbers through all processes, to a subscriber on a process that the balancer chooses. A
 * subscriber may miss messages during a reconnect; received messages must be in order and without duplicates.
 */
import { Redis } from 'ioredis';
import type { BalancedClient } from './balanced-client.js';
import type { Backend, Entrance } from './balancer.js';
import type { LoadDatabase } from './cluster-stand.js';
import { nowMs, type OutcomeLog } from './outcomes.js';

/** The log entry of a received message. */
export const HEARD = 'heard';
const CHANNEL = 'news';
const AGAIN_MS = 100;
const MAX_VIOLATIONS = 5;

export class News {
  readonly counts = { published: 0, heard: 0, connections: 0 };
  readonly #violations: string[] = [];
  readonly #publishedAtMs: number[] = [];
  #listener: Redis | undefined;
  #last = -1;
  #isClosed = false;

  constructor(
    private readonly parts: {
      readonly balancer: Entrance;
      readonly log: OutcomeLog;
      readonly database: LoadDatabase;
      readonly publisher: BalancedClient;
      readonly home: number;
      /**
       * Set if a process of the previous version takes part: it sends a PUBLISH again if a planned move delays the
       * answer.
       */
      readonly mayHearTwice: boolean;
    },
  ) {
    this.#listen();
  }

  async step(): Promise<void> {
    const number = this.#publishedAtMs.push(nowMs()) - 1;
    const outcome = await this.parts.publisher.command('PUBLISH', CHANNEL, String(number));
    if (outcome.kind === 'done') this.counts.published += 1;
  }

  /** @returns one line for each violation */
  judge(): readonly string[] {
    const { published, heard } = this.counts;
    if (published > 0 && heard === 0)
      this.#violations.push(`${this.parts.database.shard}: of ${published} none was heard`);
    return this.#violations.slice(0, MAX_VIOLATIONS);
  }

  close(): void {
    this.#isClosed = true;
    this.#listener?.disconnect();
  }

  #listen(): void {
    if (this.#isClosed) return;
    const backend = this.parts.balancer.pick(this.parts.home, new Set());
    if (backend === undefined) {
      setTimeout(() => this.#listen(), AGAIN_MS);
      return;
    }
    this.counts.connections += 1;
    const { connections: connection } = this.counts;
    const { hostname: host, port } = new URL(backend.process.addresses.resp as string);
    const { password } = this.parts.database;
    const redis = new Redis({ host, port: Number(port), password, retryStrategy: () => null });
    this.#listener = redis;
    redis.on('error', () => undefined);
    redis.on('message', (_, text: string) => this.#hear(Number(text), backend, connection));
    redis.once('end', () => setTimeout(() => this.#listen(), AGAIN_MS));
    redis.subscribe(CHANNEL).catch(() => redis.disconnect());
  }

  #hear(number: number, backend: Backend, connection: number): void {
    this.counts.heard += 1;
    if (number < this.#last || (number === this.#last && !this.parts.mayHearTwice)) {
      const lateMs = Math.round(nowMs() - (this.#publishedAtMs[number] as number));
      const said = `${number} was heard after ${this.#last}, ${lateMs} ms after it was published`;
      this.#violations.push(`${this.parts.database.shard}: ${said}, on connection ${connection} to ${backend.name}`);
    }
    this.#last = number;
    const calledAtMs = this.#publishedAtMs[number] as number;
    const { shard } = this.parts.database;
    this.parts.log.add({
      verb: HEARD,
      shard,
      through: backend.name,
      calledAtMs,
      tookMs: nowMs() - calledAtMs,
      kind: 'done',
      code: '',
    });
  }
}
