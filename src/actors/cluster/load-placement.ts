/**
 * Decides which shard moves to even out the work of the processes. A pure function of the cluster's status.
 *
 *  LPL1 no move while the cluster changes: a process that is not ready, drained, new or of another version, a shard
 *       without an owner that serves it, a wish that is not fulfilled yet
 *  LPL2 a move only lowers the work of the busier of the two processes, by a tenth at least: a single heavy shard stays,
 *       and the others leave its process
 *  LPL3 a shard that an operator has placed stays, and so does one that was moved a short time ago
 */
import type { SessionId, ShardName } from '../../kernel/index.js';
import type { ClusterStatus, ProcessStatus, ShardStatus, Wish } from '../../ports/index.js';
import { CONTROL_SHARD, planeOfShard } from '../../protocol/index.js';

/** Moves of the placement by load have this name in place of an operator's. */
export const BY_LOAD = 'placement by load';
/** A process above the average by this factor, and by this part of a core, is above its share. */
const ABOVE = 1.2;
const LEAST_ABOVE = 0.05;
/** The least gain of a move, of the work of the process that gives the shard. */
const LEAST_GAIN = 0.1;
/** A shard stays where it was moved for this many periods. */
const STAYS = 10;

export interface LoadMoment {
  readonly nowMs: number;
  /** How long a process has to be above its share; one that started more recently has not got its shards yet. */
  readonly periodMs: number;
}

export interface LoadMove {
  readonly shard: ShardName;
  readonly from: SessionId;
  readonly to: SessionId;
}

/** The process whose shards take more than its share of all work; undefined: none, or the cluster changes (LPL1). */
export function overloaded(status: ClusterStatus, moment: LoadMoment): SessionId | undefined {
  if (isChanging(status, moment)) return undefined;
  const loads = loadsOf(status);
  const all = [...loads.values()];
  const mean = all.reduce((sum, load) => sum + load, 0) / all.length;
  const [busiest, load = 0] = [...loads].sort(([, a], [, b]) => b - a)[0] ?? [];
  return load > Math.max(mean * ABOVE, mean + LEAST_ABOVE) ? busiest : undefined;
}

/** The best move away from the process (LPL2, LPL3); undefined: none is worth it. */
export function bestMove(status: ClusterStatus, from: SessionId, moment: LoadMoment): LoadMove | undefined {
  const loads = loadsOf(status);
  const before = loads.get(from) ?? 0;
  const placed = new Map(status.moves.map((move) => [move.shard, move]));
  let best: LoadMove | undefined;
  let bestPeak = before * (1 - LEAST_GAIN);
  for (const { shard, owner, load = 0 } of status.shards) {
    const wish = placed.get(shard);
    if (owner !== from || shard === CONTROL_SHARD || (wish !== undefined && stays(wish, moment))) continue;
    for (const process of status.processes) {
      if (process.process === from || !mayOwn(process, shard)) continue;
      const peak = Math.max(before - load, (loads.get(process.process) ?? 0) + load);
      if (peak >= bestPeak) continue;
      bestPeak = peak;
      best = { shard, from, to: process.process };
    }
  }
  return best;
}

/** Moves by load to processes that have ended: hashing decides about these shards again. */
export function outdated({ moves, processes }: ClusterStatus): readonly ShardName[] {
  const known = new Set(processes.map(({ process }) => process));
  return moves.filter(({ by, process }) => by === BY_LOAD && !known.has(process)).map(({ shard }) => shard);
}

function stays({ by, atMs }: Wish, { nowMs, periodMs }: LoadMoment): boolean {
  return by !== BY_LOAD || nowMs - atMs < STAYS * periodMs;
}

/** The work of each process that may own shards, as a part of a core. */
function loadsOf({ processes, shards }: ClusterStatus): Map<SessionId, number> {
  const loads = new Map(processes.filter(ownsShards).map(({ process }) => [process, 0]));
  for (const { owner, load = 0 } of shards) {
    if (owner !== undefined && loads.has(owner)) loads.set(owner, (loads.get(owner) ?? 0) + load);
  }
  return loads;
}

function isChanging({ processes, shards, drained }: ClusterStatus, { nowMs, periodMs }: LoadMoment): boolean {
  const owners = processes.filter(ownsShards);
  if (owners.length < 2 || drained.length > 0) return true;
  // Others have taken over the shards of one that is gone.
  if (processes.some(({ state }) => state !== 'ready' && state !== 'gone')) return true;
  if (new Set(owners.map(({ version }) => version)).size > 1) return true;
  if (owners.some(({ startedAtMs = nowMs }) => nowMs - startedAtMs < periodMs)) return true;
  return shards.some((shard) => shard.state !== 'serving' || isOnItsWay(shard, processes));
}

/** A wish for a process that has ended does not count. */
function isOnItsWay({ wished, owner }: ShardStatus, processes: readonly ProcessStatus[]): boolean {
  return wished !== undefined && wished !== owner && processes.some(({ process }) => process === wished);
}

function ownsShards({ roles = [] }: ProcessStatus): boolean {
  return roles.includes('kv') || roles.includes('queue');
}

function mayOwn(process: ProcessStatus, shard: ShardName): boolean {
  const plane = planeOfShard(shard);
  return plane !== undefined && process.roles?.includes(plane) === true;
}
