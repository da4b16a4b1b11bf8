/** A queue of BullMQ in the bench's own redis-server: `appendonly yes`, synced every second, which is its default. */
import { spawnSync } from 'node:child_process';
import { Queue } from 'bullmq';
import { Child } from './child.js';
import { RedisServer } from './redis.js';

/** The data of a job: everything that its call needs. */
export interface Call {
  readonly url: string;
  readonly body: string;
}

export const QUEUE = 'calls';
/** BullMQ removes finished jobs, as our queue forgets delivered messages. */
export const JOB_OPTIONS = { removeOnComplete: true };
const WORKER = new URL('./bullmq-worker.js', import.meta.url).pathname;
const KOA = new URL('./bullmq-koa.js', import.meta.url).pathname;
const CHUNK = 1000;

export class BullQueue {
  private constructor(
    private readonly redis: RedisServer,
    private readonly queue: Queue<Call>,
  ) {}

  static isMissing(): boolean {
    return spawnSync('which', ['redis-server']).status !== 0;
  }

  static async start(): Promise<BullQueue> {
    const redis = await RedisServer.start('everysec');
    return new BullQueue(redis, new Queue<Call>(QUEUE, { connection: { host: '127.0.0.1', port: redis.port } }));
  }

  async fill(call: Call, count: number): Promise<void> {
    for (let from = 0; from < count; from += CHUNK) {
      const length = Math.min(CHUNK, count - from);
      await this.queue.addBulk(Array.from({ length }, () => ({ name: 'call', data: call, opts: JOB_OPTIONS })));
    }
  }

  /** Removes every job. */
  empty(): Promise<void> {
    return this.queue.obliterate({ force: true });
  }

  /** The worker begins when its parent sends a message. */
  worker(concurrency: number): Promise<Child> {
    const args = [WORKER, `${this.redis.port}`, QUEUE, `${concurrency}`];
    return Child.start(process.execPath, args, { readyWhen: /^ready/, withChannel: true });
  }

  /** Koa that adds a job for each request. */
  koa(): Promise<Child> {
    return Child.start(process.execPath, [KOA, `${this.redis.port}`], { readyWhen: /^ready (\S+)/ });
  }

  async dispose(): Promise<void> {
    await this.queue.close();
    await this.redis.dispose();
  }
}
