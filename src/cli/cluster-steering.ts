/**
 * `millrace cluster status|drain|undrain|move|upgrade`, given the cluster that they look at. A wish is written, then the command
 * waits until it is so: processes follow wishes by themselves.
 */
import type { Steering } from '../actors/cluster/index.js';
import { FORMAT_LEVEL, type SessionId, type ShardName } from '../kernel/index.js';
import type { Clock, ClusterStatus, ClusterWatch, ProcessStatus, Timers } from '../ports/index.js';
import { type FormatRaising, raiseFormats } from './cluster-formats.js';
import { clusterTables } from './cluster-output.js';
import { parse, RefusedCommand, runVerb, UsageError, type Verbs, wholeOption } from './command-line.js';

export interface ClusterSteeringDeps {
  readonly cluster: ClusterWatch;
  readonly steering: Steering;
  readonly formats: FormatRaising;
  readonly clock: Clock;
  readonly timers: Timers;
  write(text: string): void;
  writeError(text: string): void;
}

export const STEERING_USAGE = `usage: millrace cluster init|verify|adopt-key
       millrace cluster users DIR
       millrace cluster status [--json]
       millrace cluster drain PROCESS [--wait SECONDS]
       millrace cluster undrain PROCESS
       millrace cluster move SHARD PROCESS|anywhere [--wait SECONDS]
       millrace cluster upgrade
       (PROCESS is as status shows it, or how it begins where no other begins so)
`;

/** Thirty shards that move one after the other, each with calls to destinations that have to end first. */
const DEFAULT_WAIT_SECONDS = 120;
const LOOK_EVERY_MS = 500;
/** A shard is placed by itself again. */
const ANYWHERE = 'anywhere';
const WHICH_PROCESS = 'which process? millrace cluster status names them';

/** @returns the exit code. Never throws */
export function steeringCommand(argv: readonly string[], deps: ClusterSteeringDeps): Promise<number> {
  return runVerb(['cluster', STEERING_USAGE, STEERING_VERBS], argv, deps);
}

export const STEERING_VERBS: Verbs<ClusterSteeringDeps> = { status, drain, undrain, move, upgrade };

async function status(argv: readonly string[], { cluster, clock, write }: ClusterSteeringDeps): Promise<void> {
  const { flags } = parse(argv, [], ['json'], 0);
  const now = await cluster.look();
  write(flags.has('json') ? `${JSON.stringify(now)}\n` : clusterTables(now, clock.nowMs()));
}

async function drain(argv: readonly string[], deps: ClusterSteeringDeps): Promise<void> {
  const { words, options } = parse(argv, ['wait'], [], 1, WHICH_PROCESS);
  const now = await deps.cluster.look();
  const process = processNamed(now, words[0] as string);
  const mayOwn = (one: ProcessStatus) => one.process !== process && !one.isDrained && ownsShards(one);
  if (!now.processes.some(mayOwn)) {
    throw new RefusedCommand(`nobody else could own the shards of ${process}: no other process answers that may`);
  }
  await deps.steering.drain(process, (other) => now.processes.some((one) => one.process === other && answers(one)));
  await untilSo(deps, waitMs(options), ({ processes, shards }) => {
    const own = shards.filter(({ owner }) => owner === process).map(({ shard }) => shard);
    if (own.length > 0) return `${process} to hand over ${own.join(', ')}`;
    const left = processes.find((one) => one.process === process)?.ownedShards ?? 0;
    const free = shards.filter(({ owner, state }) => owner === undefined || state !== 'serving');
    if (left > 0 || free.length > 0) return `others to take over ${free.map(({ shard }) => shard).join(', ')}`;
    return undefined;
  });
  deps.write(`${process} is drained: it owns nothing, and goes on as an edge\n`);
}

async function upgrade(argv: readonly string[], { cluster, formats, timers, write }: ClusterSteeringDeps) {
  parse(argv, [], [], 0);
  const lookAgain = () => timers.pause(LOOK_EVERY_MS).then(() => cluster.look());
  await raiseFormats(await cluster.look(), lookAgain, formats);
  write(`format level ${FORMAT_LEVEL} counts: programs that read less are refused\n`);
}

/** What belongs there by itself comes back by itself. */
async function undrain(argv: readonly string[], { cluster, steering, write }: ClusterSteeringDeps): Promise<void> {
  const { words } = parse(argv, [], [], 1, WHICH_PROCESS);
  const process = processNamed(await cluster.look(), words[0] as string);
  await steering.undrain(process);
  write(`${process} may own shards\n`);
}

async function move(argv: readonly string[], deps: ClusterSteeringDeps): Promise<void> {
  const { words, options } = parse(argv, ['wait'], [], 2, 'which shard, and to which process?');
  const [name, to] = words as [string, string];
  const now = await deps.cluster.look();
  const shard = shardNamed(now, name);
  if (to === ANYWHERE) {
    await deps.steering.move(shard, undefined);
    deps.write(`${shard} is placed by itself\n`);
    return;
  }
  const process = processNamed(now, to);
  mustBeAbleToOwn(now, process, shard);
  await deps.steering.move(shard, process);
  await untilSo(deps, waitMs(options), ({ shards }) => {
    const { owner, state = 'without an owner' } = shards.find((one) => one.shard === shard) ?? {};
    if (owner === process && state === 'serving') return undefined;
    return `${shard} to be served by ${process}: it is ${owner === undefined ? state : `${state} at ${owner}`}`;
  });
  deps.write(`${shard} is at ${process}\n`);
}

/** @param missing  what is not so yet; undefined: it is so. @throws Refused when it is not so in time */
async function untilSo(
  { cluster, clock, timers, writeError }: ClusterSteeringDeps,
  forMs: number,
  missing: (status: ClusterStatus) => string | undefined,
): Promise<void> {
  const untilMs = clock.monotonicMs() + forMs;
  let told: string | undefined;
  for (;;) {
    await timers.pause(LOOK_EVERY_MS);
    const what = missing(await cluster.look());
    if (what === undefined) return;
    if (clock.monotonicMs() >= untilMs) {
      throw new RefusedCommand(`after ${forMs / 1000} s it still waits for ${what}; the wish stays`);
    }
    if (what !== told) writeError(`waiting for ${what}\n`);
    told = what;
  }
}

function waitMs(options: Readonly<Record<string, string | undefined>>): number {
  return (wholeOption(options, 'wait') ?? DEFAULT_WAIT_SECONDS) * 1000;
}

/** A process, or one that is drained and gone. @throws Refused */
function processNamed({ processes, drained }: ClusterStatus, name: string): SessionId {
  const all = new Set([...processes, ...drained].map(({ process }) => process));
  const found = [...all].filter((process) => process === name || process.startsWith(name));
  const exact = found.find((process) => process === name);
  const [first, second] = found;
  if (exact !== undefined) return exact;
  if (first === undefined) throw new RefusedCommand(`there is no process ${name}: there are ${[...all].join(', ')}`);
  if (second !== undefined)
    throw new RefusedCommand(`${found.length} processes begin with ${name}: ${found.join(', ')}`);
  return first;
}

/** @throws UsageError */
function shardNamed({ shards }: ClusterStatus, name: string): ShardName {
  const found = shards.find(({ shard }) => shard === name)?.shard;
  if (found !== undefined) return found;
  throw new UsageError(`there is no shard ${name}: they are ${shards.map(({ shard }) => shard).join(', ')}`);
}

function mustBeAbleToOwn({ processes }: ClusterStatus, process: SessionId, shard: ShardName): void {
  const target = processes.find((one) => one.process === process);
  if (target === undefined || !answers(target)) throw new RefusedCommand(`${process} does not answer`);
  if (target.isDrained) throw new RefusedCommand(`${process} is drained: undrain it first`);
  const role = shard.startsWith('KV_') ? 'kv' : shard.startsWith('QUEUE_') ? 'queue' : undefined;
  if (role === undefined ? ownsShards(target) : target.roles?.includes(role)) return;
  throw new RefusedCommand(`${process} has not the role that ${shard} takes: it has ${target.roles?.join(', ')}`);
}

function answers({ state }: ProcessStatus): boolean {
  return state === 'ready' || state === 'not-ready';
}

function ownsShards(one: ProcessStatus): boolean {
  return answers(one) && one.roles?.some((role) => role === 'kv' || role === 'queue') === true;
}
