/**
 * Measures the effect of a fault on clients. Results are separate for the touched shards, which changed owner or lost
 * the leader of their stream, for all other shards, and for calls through the struck process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../eventually.js';
import type { SeededRandom } from '../seeded-random.js';
import type { ClusterLoad } from './cluster-load.js';
import type { ClusterStand, Owners } from './cluster-stand.js';
import { FAULTS, type FaultName } from './faults.js';
import { HEARD } from './news.js';
import { type LoadOutcome, type OutcomeSummary, summaryOf } from './outcomes.js';

/**
 * The effect of a fault is over after this time without a failed call, in which each shard had a successful call and
 * each subscriber received a message.
 */
const CALM_MS = 1500;
const CALM = { timeoutMs: 90_000, everyMs: 100 };

export interface Measured {
  readonly name: FaultName;
  /** The results of calls to the touched shards. */
  readonly touched: OutcomeSummary;
  readonly others: OutcomeSummary;
  /** The results of all calls through the struck process. */
  readonly victims: OutcomeSummary;
  readonly shards: readonly string[];
  /**
   * The time from the moment when the cluster could work again to the first success of the last shard; undefined if
   * the fault did not stop the whole cluster.
   */
  readonly backMs: number | undefined;
  /** The time until the balancer stopped sending requests to the struck process; undefined if it did not. */
  readonly unreadyMs: number | undefined;
}

export async function measured(
  name: FaultName,
  { stand, load, random }: { stand: ClusterStand; load: ClusterLoad; random: SeededRandom },
): Promise<Measured> {
  await waitForNoFailures(stand, load);
  const before = stand.owners();
  const fromMs = Date.now();
  const { victim, shards: struck = [], backAtMs } = await FAULTS[name]({ stand, random });
  await waitForNoFailures(stand, load);
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

/** @throws the last failure, if failures do not end */
export async function waitForNoFailures(stand: ClusterStand, load: ClusterLoad): Promise<void> {
  const shards = [...stand.databases, ...stand.accounts].map(({ shard }) => shard);
  await pause(CALM_MS);
  await eventually(() => {
    const nowMs = Date.now();
    const last = load.log.between(nowMs - CALM_MS, nowMs);
    const failed = last.find(({ kind }) => kind !== 'done');
    if (failed !== undefined) throw new Error(`not calm: ${JSON.stringify(failed)}`);
    const silent = shards.find((shard) => !last.some((outcome) => outcome.shard === shard));
    if (silent !== undefined) throw new Error(`not calm: no successful call to shard ${silent}`);
    const deaf = stand.databases.find(({ shard }) => !last.some((one) => one.verb === HEARD && one.shard === shard));
    if (deaf !== undefined) throw new Error(`not calm: no message received from shard ${deaf.shard}`);
  }, CALM);
}

function shardsMoved(before: Owners, after: Owners): string[] {
  return [...after].filter(([shard, { epoch }]) => before.get(shard)?.epoch !== epoch).map(([shard]) => shard);
}

/** The time until each shard had a successful call. */
function backMs(outcomes: readonly LoadOutcome[], backAtMs: number): number {
  const firstByShard = new Map<string, number>();
  for (const { shard, kind, calledAtMs, tookMs } of outcomes) {
    const atMs = calledAtMs + tookMs;
    if (kind !== 'done' || atMs < backAtMs) continue;
    firstByShard.set(shard, Math.min(firstByShard.get(shard) ?? atMs, atMs));
  }
  return Math.max(0, ...firstByShard.values()) - backAtMs;
}
