/**
 * Two edges and a keeper of read models on one NATS: the first edge owns everything, the second nothing, and the keeper
 * can be put to sleep.
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
    /** Of the read models; the owner, when it was not asked for. */
    readonly keeper: MillraceProcess,
  ) {}

  /** @param keepsApart whether the read models have a process of their own */
  static async start(keepsApart: boolean, settings: Environment = {}): Promise<ReadSideCluster> {
    const nats = await startPlainNats();
    const cluster = await MillraceCluster.prepare(nats, {
      ...SEARCH_ENVIRONMENT,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      // Nobody is killed; on a busy machine nobody is to be taken for dead either.
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

  /** Does something while the keeper sleeps. */
  async asleep<T>(action: () => Promise<T>): Promise<T> {
    await this.keeper.freeze();
    try {
      return await action();
    } finally {
      this.keeper.thaw();
    }
  }

  /** Does something that waits for the keeper, which is asleep and wakes up after so many milliseconds. */
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

/** What a face answers to a token. */
export async function statusOf(url: string, token: string, body?: unknown): Promise<number> {
  const { status } = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return status;
}

/** Until a check holds. @throws when what is asked a second after `fromMs` of `performance.now()` still has it otherwise */
export async function withinASecond(fromMs: number, check: () => Promise<void>): Promise<void> {
  let askedAtMs = 0;
  await eventually(() => {
    askedAtMs = performance.now();
    return check();
  });
  expect(askedAtMs - fromMs, 'ms until the change was in force').to.be.below(1000);
}
