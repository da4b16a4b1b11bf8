/**
 * What a fault costs those who use the cluster meanwhile: told for the shards that it touched, which changed hands or lost
 * the server that leads them, and for all others; apart from calls through the very process that was struck.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../eventually.js';
import type { SeededRandom } from '../seeded-random.js';
import type { ClusterLoad } from './cluster-load.js';
import type { ClusterStand, Owners } from './cluster-stand.js';
import { FAULTS, type FaultName } from './faults.js';
import { HEARD } from './news.js';
import { type LoadOutcome, type OutcomeSummary, summaryOf } from './outcomes.js';

/** Without a failure, with a success of each shard and something heard by each who listens: what a fault did is over. */
const CALM_MS = 1500;
const CALM = { timeoutMs: 90_000, everyMs: 100 };

export interface Measured {
  readonly name: FaultName;
  /** Of calls about the shards that it touched. */
  readonly touched: OutcomeSummary;
  readonly others: OutcomeSummary;
  /** Of calls through the process that was struck, whatever they were about. */
  readonly victims: OutcomeSummary;
  readonly shards: readonly string[];
  /** From the instant that it could work again to the last shard's first success; undefined: nothing was broken whole. */
  readonly backMs: number | undefined;
  /** From the strike until the balancer knew that the victim takes no requests; undefined: it did not learn it, or need to. */
  readonly unreadyMs: number | undefined;
}

export async function measured(
  name: FaultName,
  { stand, load, random }: { stand: ClusterStand; load: ClusterLoad; random: SeededRandom },
): Promise<Measured> {
  await calm(stand, load);
  const before = stand.owners();
  const fromMs = Date.now();
  const { victim, shards: struck = [], backAtMs } = await FAULTS[name]({ stand, random });
  await calm(stand, load);
  const outcomes = load.log.between(fromMs, Date.now());
  const shards = [...new Set([...struck, ...shardsMoved(before, stand.owners())])];
  const of = (isMeant: (outcome: LoadOutcome) => boolean) => summaryOf(outcomes.filter(isMeant), fromMs);
  const isVictims = ({ through }: LoadOutcome): boolean => victim !== undefined && through === victim;
  const isTouched = ({ shard }: LoadOutcome): boolean => shards.includes(shard);
  const unready = stand.balancer.turns.find((turn) => turn.atMs >= fromMs && !turn.isReady && turn.name === victim);
  return {
    name,
    touched: of((outcome) => !isVictims(outcome) && isTouched(outcome)),
    others: of((outcome) => !isVictims(outcome) && !isTouched(outcome)),
    victims: of(isVictims),
    shards,
    backMs: backAtMs === undefined ? undefined : backMs(outcomes, backAtMs),
    unreadyMs: unready === undefined ? undefined : unready.atMs - fromMs,
  };
}

/** @throws with what went wrong last, when it does not become calm */
export async function calm(stand: ClusterStand, load: ClusterLoad): Promise<void> {
  const shards = [...stand.databases, ...stand.accounts].map(({ shard }) => shard);
  await pause(CALM_MS);
  await eventually(() => {
    const nowMs = Date.now();
    const last = load.log.between(nowMs - CALM_MS, nowMs);
    const failed = last.find(({ kind }) => kind !== 'done');
    if (failed !== undefined) throw new Error(`not calm: ${JSON.stringify(failed)}`);
    const silent = shards.find((shard) => !last.some((outcome) => outcome.shard === shard));
    if (silent !== undefined) throw new Error(`not calm: nothing is done of ${silent}`);
    const deaf = stand.databases.find(({ shard }) => !last.some((one) => one.verb === HEARD && one.shard === shard));
    if (deaf !== undefined) throw new Error(`not calm: nothing is heard of ${deaf.shard}`);
  }, CALM);
}

function shardsMoved(before: Owners, after: Owners): string[] {
  return [...after].filter(([shard, { epoch }]) => before.get(shard)?.epoch !== epoch).map(([shard]) => shard);
}

/** Until each shard had something done. */
function backMs(outcomes: readonly LoadOutcome[], backAtMs: number): number {
  const firstByShard = new Map<string, number>();
  for (const { shard, kind, calledAtMs, tookMs } of outcomes) {
    const atMs = calledAtMs + tookMs;
    if (kind !== 'done' || atMs < backAtMs) continue;
    firstByShard.set(shard, Math.min(firstByShard.get(shard) ?? atMs, atMs));
  }
  return Math.max(0, ...firstByShard.values()) - backAtMs;
}
