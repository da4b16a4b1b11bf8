/**
 * `millrace cluster status|drain|undrain|move|upgrade` for a given cluster. The command stores a wish and waits until
 * the processes have followed it.
 */
import { answersIn, refusalOfDrain, refusalOfMove, type Steering } from '../actors/cluster/index.js';
import { FORMAT_LEVEL, type SessionId, type ShardName } from '../kernel/index.js';
import type { Clock, ClusterStatus, ClusterWatch, Timers } from '../ports/index.js';
import { type FormatRaising, raiseFormats } from './cluster-formats.js';
import { clusterTables } from './cluster-output.js';
import { doVerb, RefusedCommand, type Verbs, wholeOf } from './command-line.js';
import { type ParsedArguments, shown, UsageError } from './parser.js';

export interface ClusterSteeringDeps {
  readonly cluster: ClusterWatch;
  readonly steering: Steering;
  readonly formats: FormatRaising;
  readonly clock: Clock;
  readonly timers: Timers;
  write(text: string): void;
  writeError(text: string): void;
}

/** Enough for thirty shards that move one after the other, each with running deliveries that have to end first. */
const DEFAULT_WAIT_SECONDS = 120;
const LOOK_EVERY_MS = 500;
/** Restores automatic placement of a shard. */
const ANYWHERE = 'anywhere';

/** @returns the exit code. @throws UsageError, RefusedCommand, errors of reading the cluster */
export function steeringCommand(verb: string, asked: ParsedArguments, deps: ClusterSteeringDeps): Promise<number> {
  return doVerb(STEERING_VERBS, verb, asked, deps);
}

export const STEERING_VERBS: Verbs<ClusterSteeringDeps> = { status, drain, undrain, move, upgrade };

async function status(asked: ParsedArguments, { cluster, clock, write }: ClusterSteeringDeps): Promise<void> {
  const now = await cluster.look();
  write(shown(asked, now, () => clusterTables(now, clock.nowMs())));
}

async function drain(asked: ParsedArguments, deps: ClusterSteeringDeps): Promise<void> {
  const now = await deps.cluster.look();
  const process = processNamed(now, asked.words[0] as string);
  refuse(refusalOfDrain(now, process));
  await deps.steering.drain(process, answersIn(now));
  await untilSo(deps, waitMs(asked), ({ processes, shards }) => {
    const own = shards.filter(({ owner }) => owner === process).map(({ shard }) => shard);
    if (own.length > 0) return `${process} to hand over ${own.join(', ')}`;
    const left = processes.find((one) => one.process === process)?.ownedShards ?? 0;
    const free = shards.filter(({ owner, state }) => owner === undefined || state !== 'serving');
    if (left > 0 || free.length > 0) return `others to take over ${free.map(({ shard }) => shard).join(', ')}`;
    return undefined;
  });
  const text = () => `${process} is drained: it owns no shards and still answers clients\n`;
  deps.write(shown(asked, { process, isDrained: true }, text));
}

async function upgrade(asked: ParsedArguments, { cluster, formats, timers, write }: ClusterSteeringDeps) {
  const lookAgain = () => timers.pause(LOOK_EVERY_MS).then(() => cluster.look());
  await raiseFormats(await cluster.look(), lookAgain, formats);
  const text = () => `format level ${FORMAT_LEVEL} is in force: programs that read only lower levels are refused\n`;
  write(shown(asked, { format: FORMAT_LEVEL }, text));
}

/** Automatic placement returns shards to it. */
async function undrain(asked: ParsedArguments, { cluster, steering, write }: ClusterSteeringDeps): Promise<void> {
  const process = processNamed(await cluster.look(), asked.words[0] as string);
  await steering.undrain(process);
  write(shown(asked, { process, isDrained: false }, () => `${process} may own shards\n`));
}

async function move(asked: ParsedArguments, deps: ClusterSteeringDeps): Promise<void> {
  const [name, to] = asked.words as [string, string];
  const now = await deps.cluster.look();
  const shard = shardNamed(now, name);
  if (to === ANYWHERE) {
    await deps.steering.move(shard, undefined);
    deps.write(shown(asked, { shard, process: null }, () => `${shard} is placed automatically\n`));
    return;
  }
  const process = processNamed(now, to);
  refuse(refusalOfMove(now, process, shard));
  await deps.steering.move(shard, process);
  await untilSo(deps, waitMs(asked), ({ shards }) => {
    const { owner, state = 'without an owner' } = shards.find((one) => one.shard === shard) ?? {};
    if (owner === process && state === 'serving') return undefined;
    return `${shard} to be served by ${process}; its state is ${owner === undefined ? state : `${state} at ${owner}`}`;
  });
  deps.write(shown(asked, { shard, process }, () => `${shard} is served by ${process}\n`));
}

/** @param missing  returns the reason to wait, or undefined when done. @throws Refused after the time limit */
async function untilSo(
  { cluster, clock, timers, writeError }: ClusterSteeringDeps,
  forMs: number,
  missing: (status: ClusterStatus) => string | undefined,
): Promise<void> {
  const untilMs = clock.monotonicMs() + forMs;
  let told: string | undefined;
  for (;;) {
    await timers.pause(LOOK_EVERY_MS);
    const wanted = missing(await cluster.look());
    if (wanted === undefined) return;
    if (clock.monotonicMs() >= untilMs) {
      throw new RefusedCommand(`still waiting for ${wanted} after ${forMs / 1000} s; the request stays in force`);
    }
    if (wanted !== told) writeError(`waiting for ${wanted}\n`);
    told = wanted;
  }
}

function waitMs(asked: ParsedArguments): number {
  return (wholeOf(asked, 'wait') ?? DEFAULT_WAIT_SECONDS) * 1000;
}

/** A process, or a drained one that has ended. @throws Refused */
function processNamed({ processes, drained }: ClusterStatus, name: string): SessionId {
  const all = new Set([...processes, ...drained].map(({ process }) => process));
  const found = [...all].filter((process) => process === name || process.startsWith(name));
  const exact = found.find((process) => process === name);
  const [first, second] = found;
  if (exact !== undefined) return exact;
  if (first === undefined)
    throw new RefusedCommand(`there is no process ${name}; the processes are ${[...all].join(', ')}`);
  if (second !== undefined)
    throw new RefusedCommand(
      `${found.length} names of processes begin with ${name}: give more of the name, of ${found.join(', ')}`,
    );
  return first;
}

/** @throws UsageError */
function shardNamed({ shards }: ClusterStatus, name: string): ShardName {
  const found = shards.find(({ shard }) => shard === name)?.shard;
  if (found !== undefined) return found;
  throw new UsageError(`there is no shard ${name}; the shards are ${shards.map(({ shard }) => shard).join(', ')}`);
}

/** @throws RefusedCommand */
function refuse(refusal: string | undefined): void {
  if (refusal !== undefined) throw new RefusedCommand(refusal);
}
