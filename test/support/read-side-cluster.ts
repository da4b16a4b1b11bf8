/**
 * Two edges and a process for read models on one nats-server. The first edge owns all shards, the second owns none,
 * and the read-model process can be frozen.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from './millrace-cluster.js';
import { type Environment, endEverything, type MillraceProcess } from './millrace-process.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from './queue-process.js';
import { ReadSide } from './read-side.js';
import { MGMT_EMAIL, MGMT_KEY, SEARCH_ENVIRONMENT } from './search-process.js';

const READY = { timeoutMs: 30_000, everyMs: 100 };

export class ReadSideCluster {
  private constructor(
    private readonly nats: NatsFacts,
    readonly owner: MillraceProcess,
    readonly other: MillraceProcess,
    /** The process with the read models; the owner unless a separate one was requested. */
    readonly keeper: MillraceProcess,
  ) {}

  /** @param keepsApart whether the read models have a separate process */
  static async start(keepsApart: boolean, settings: Environment = {}): Promise<ReadSideCluster> {
    const nats = await startPlainNats();
    const cluster = await MillraceCluster.prepare(nats, {
      ...SEARCH_ENVIRONMENT,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      // No test kills a process, and a slow process on a busy machine must not be taken for dead.
      MILLRACE_TAKEOVER_SILENCE_MS: '15000',
      ...settings,
    });
    const roles = keepsApart ? 'edge,kv,queue' : 'edge,kv,queue,projection';
    const [owner, other, keeper] = await Promise.all([
      cluster.start({ MILLRACE_ROLES: roles }),
      cluster.start({ MILLRACE_ROLES: 'edge' }),
      keepsApart ? cluster.start({ MILLRACE_ROLES: 'projection' }) : undefined,
    ]);
    const started = new ReadSideCluster(nats, owner, other, keeper ?? owner);
    for (const edge of [owner, other]) await eventually(() => started.through(edge).state(), READY);
    return started;
  }

  through({ addresses }: MillraceProcess): ReadSide {
    return new ReadSide({
      queueUrl: addresses.queue as string,
      queueToken: QUEUE_TOKEN,
      mgmtUrl: addresses.mgmt as string,
      email: MGMT_EMAIL,
      key: MGMT_KEY,
    });
  }

  /** Runs an action while the read-model process is frozen. */
  async asleep<T>(action: () => Promise<T>): Promise<T> {
    await this.keeper.freeze();
    try {
      return await action();
    } finally {
      this.keeper.thaw();
    }
  }

  /** Runs an action that waits for the frozen read-model process, which is resumed after `ms` milliseconds. */
  async asleepFor<T>(ms: number, action: () => Promise<T>): Promise<T> {
    await this.keeper.freeze();
    const waking = pause(ms).then(() => this.keeper.thaw());
    try {
      return await action();
    } finally {
      await waking;
    }
  }

  async stop(): Promise<void> {
    await endEverything();
    await this.nats.stop();
  }
}

/** The status of a request with this token. */
export async function statusOf(url: string, token: string, body?: unknown): Promise<number> {
  const { status } = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return status;
}

/**
 * Waits until a check holds. @throws if a request sent a second after `fromMs` (of `performance.now()`) still fails
 * it
 */
export async function withinASecond(fromMs: number, check: () => Promise<void>): Promise<void> {
  let askedAtMs = 0;
  await eventually(() => {
    askedAtMs = performance.now();
    return check();
  });
  expect(askedAtMs - fromMs, 'ms until the change was in force').to.be.below(1000);
}
