/**
 * The faults of a cluster, by name. Each fault injects a failure and then repairs it: killed processes are restarted
 * and cut connections restored.
 */
import { spawn } from 'node:child_process';
import { cp, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../eventually.js';
import { type MillraceProcess, signalPid } from '../millrace-process.js';
import type { Way } from '../nats-routes.js';
import type { SeededRandom } from '../seeded-random.js';
import type { ClusterStand } from './cluster-stand.js';

/** The time that a stopped nats-server or process stays down. */
const AWAY_MS = 3000;
/** The time that a process is cut off, longer than a takeover takes. */
const CUT_OFF_MS = 8000;
const STARVED_MS = 450;
const SPINNERS = 4 * availableParallelism();
const BACK = { timeoutMs: 60_000, everyMs: 50 };

export interface FaultParts {
  readonly stand: ClusterStand;
  readonly random: SeededRandom;
}

export interface StruckFault {
  /** The struck process; calls through it may fail. */
  readonly victim?: string;
  /**
   * Touched shards in addition to those that change owner: streams led by the struck server, or shards owned by the
   * struck process.
   */
  readonly shards?: readonly string[];
  /** The time when the cluster could work again: the servers had a quorum or the process was reconnected. */
  readonly backAtMs?: number;
}

export type Fault = (parts: FaultParts) => Promise<StruckFault>;

/** A random process that owns a shard. */
function someOwner({ stand, random }: FaultParts): string {
  const names = [...stand.owners().values()].map(({ name }) => name).filter((name) => stand.processes.has(name));
  return random.pick(names.length > 0 ? names : [...stand.processes.keys()]);
}

function ownedBy(stand: ClusterStand, process: string): string[] {
  return [...stand.owners()].filter(([, { name }]) => name === process).map(([shard]) => shard);
}

async function join({ stand }: FaultParts): Promise<StruckFault> {
  await stand.startProcess('d');
  return {};
}

async function leave({ stand }: FaultParts): Promise<StruckFault> {
  if (!stand.processes.has('d')) await stand.startProcess('d');
  await stand.endProcess('d', 'SIGTERM');
  stand.forget('d');
  return {};
}

async function termProcess(parts: FaultParts): Promise<StruckFault> {
  const name = someOwner(parts);
  await parts.stand.endProcess(name, 'SIGTERM');
  await pause(AWAY_MS);
  await parts.stand.startProcess(name);
  return {};
}

async function rollingRestart({ stand }: FaultParts): Promise<StruckFault> {
  for (const name of [...stand.processes.keys()].sort()) {
    await stand.endProcess(name, 'SIGTERM');
    const started = await stand.startProcess(name);
    await eventually(() => expectEdgeReady(started), BACK);
  }
  return {};
}

async function killOwner(parts: FaultParts): Promise<StruckFault> {
  const victim = someOwner(parts);
  await parts.stand.endProcess(victim, 'SIGKILL');
  // The wait lets other processes take over. An immediate restart by a supervisor is a different fault.
  await pause(CUT_OFF_MS);
  await parts.stand.startProcess(victim);
  return { victim };
}

async function termEachNats({ stand }: FaultParts): Promise<StruckFault> {
  const shards = [...stand.owners().keys()];
  for (const node of stand.nats.nodes) {
    await node.end();
    await pause(AWAY_MS);
    node.start();
    await eventually(() => node.expectHealthy(), BACK);
  }
  return { shards };
}

async function killNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const node = random.pick(stand.nats.nodes);
  const shards = await node.streamsLed();
  await node.kill();
  await pause(CUT_OFF_MS);
  node.start();
  await eventually(() => node.expectHealthy(), BACK);
  return { shards };
}

async function killTwoNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const spared = random.pick(stand.nats.nodes);
  const struck = stand.nats.nodes.filter((node) => node !== spared);
  await Promise.all(struck.map((node) => node.kill()));
  await pause(AWAY_MS);
  for (const node of struck) node.start();
  return { shards: [...stand.owners().keys()], backAtMs: await quorum(stand) };
}

async function everythingStopped({ stand, random }: FaultParts): Promise<StruckFault> {
  const names = [...stand.processes.keys()];
  await Promise.all(names.map((name) => stand.endProcess(name, random.pick(['SIGTERM', 'SIGKILL']))));
  await Promise.all(stand.nats.nodes.map((node) => node.end()));
  const starting = names.map((name) => stand.startProcess(name));
  for (const node of stand.nats.nodes) {
    await pause(random.below(AWAY_MS));
    node.start();
  }
  const backAtMs = await quorum(stand);
  await Promise.all(starting);
  return { shards: [...stand.owners().keys()], backAtMs };
}

/** Closes all connections of `c` to the nats-servers and refuses new ones. */
async function cutOff({ stand }: FaultParts): Promise<StruckFault> {
  const shards = ownedBy(stand, 'c');
  for (const proxy of stand.proxies) proxy.isolate();
  await pause(CUT_OFF_MS);
  for (const proxy of stand.proxies) proxy.heal();
  return { victim: 'c', shards };
}

/** Drops all data of `c` in both directions and keeps the connections open. */
async function silence({ stand }: FaultParts): Promise<StruckFault> {
  const shards = ownedBy(stand, 'c');
  for (const proxy of stand.proxies) for (const way of ['to-server', 'to-client'] as const) proxy.stall(way);
  await pause(CUT_OFF_MS);
  for (const proxy of stand.proxies) proxy.heal();
  return { victim: 'c', shards };
}

/** Drops all data of `c` in one direction and keeps the connections open. */
async function silenceOneWay({ stand, random }: FaultParts): Promise<StruckFault> {
  const shards = ownedBy(stand, 'c');
  const way = random.pick(['to-server', 'to-client'] as const);
  for (const proxy of stand.proxies) proxy.stall(way);
  await pause(CUT_OFF_MS);
  for (const proxy of stand.proxies) proxy.heal();
  return { victim: 'c', shards };
}

async function cutConnections({ stand }: FaultParts): Promise<StruckFault> {
  const shards = ownedBy(stand, 'c');
  for (const proxy of stand.proxies) proxy.cut();
  return { shards };
}

async function freezeOwner(parts: FaultParts): Promise<StruckFault> {
  const victim = someOwner(parts);
  const frozen = parts.stand.processes.get(victim) as MillraceProcess;
  await frozen.freeze();
  await pause(CUT_OFF_MS);
  frozen.thaw();
  return { victim };
}

async function starveOwner(parts: FaultParts): Promise<StruckFault> {
  const victim = someOwner(parts);
  await starved((parts.stand.processes.get(victim) as MillraceProcess).pid);
  return { victim };
}

async function starveNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const node = random.pick(stand.nats.nodes);
  const shards = await node.streamsLed();
  await starved(node.pid);
  return { shards };
}

/** Gives a process a tenth of a CPU, in pauses that delay every heartbeat. */
async function starved(pid: number): Promise<void> {
  for (const endMs = Date.now() + CUT_OFF_MS; Date.now() < endMs; ) {
    signalPid(pid, 'SIGSTOP');
    await pause(STARVED_MS);
    signalPid(pid, 'SIGCONT');
    await pause(STARVED_MS / 9);
  }
}

/** Runs busy loops on all CPUs, which slows every process of the machine. */
async function busyMachine({ stand }: FaultParts): Promise<StruckFault> {
  await withBusyLoops(SPINNERS, () => pause(CUT_OFF_MS));
  return { shards: [...stand.owners().keys()] };
}

/** Runs busy loops while `act` runs. */
export async function withBusyLoops<T>(count: number, act: () => Promise<T>): Promise<T> {
  const loops = Array.from({ length: count }, () =>
    spawn('setpriv', ['--pdeathsig', 'KILL', 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }),
  );
  try {
    return await act();
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}

async function wrongClock({ stand, random }: FaultParts): Promise<StruckFault> {
  await stand.clock?.setAhead((random.below(2) === 0 ? 1 : -1) * (1 + random.below(600)) * 1000);
  await pause(CUT_OFF_MS);
  await stand.clock?.setAhead(0);
  return { shards: ownedBy(stand, 'b') };
}

async function freezeNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const node = random.pick(stand.nats.nodes);
  const shards = await node.streamsLed();
  node.freeze();
  await pause(CUT_OFF_MS);
  node.thaw();
  await eventually(() => node.expectHealthy(), BACK);
  return { shards };
}

/** Partitions one server from the two others, in both directions or in one. */
async function partNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const alone = random.below(stand.nats.nodes.length);
  const others = [...stand.nats.nodes.keys()].filter((node) => node !== alone);
  const away = others.map((other): Way => [alone, other]);
  const back = others.map((other): Way => [other, alone]);
  return partedFor(CUT_OFF_MS, { stand, random }, random.pick([away, back, [...away, ...back]]));
}

/** Partitions two servers from each other; both still reach the third. */
async function partTwoNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const one = random.below(stand.nats.nodes.length);
  const two = (one + 1) % stand.nats.nodes.length;
  return partedFor(CUT_OFF_MS, { stand, random }, [
    [one, two],
    [two, one],
  ]);
}

async function partedFor(ms: number, { stand, random }: FaultParts, ways: readonly Way[]): Promise<StruckFault> {
  const { nodes, routes } = stand.nats;
  const struck = new Set(ways.flat());
  const led = await Promise.all(nodes.filter((_, node) => struck.has(node)).map((node) => node.streamsLed()));
  routes?.break(ways, random.below(2) === 0);
  await pause(ms);
  routes?.repair();
  await Promise.all(nodes.map((node) => eventually(() => node.expectHealthy(), BACK)));
  return { shards: led.flat() };
}

/** Fills the disk of a server. The server then stops storing until space is freed and it is restarted. */
async function fillDisk({ stand }: FaultParts): Promise<StruckFault> {
  const node = stand.nats.nodes.at(-1) as (typeof stand.nats.nodes)[number];
  const shards = await node.streamsLed();
  await stand.nats.disk?.fill();
  await eventually(async () => {
    const isWell = await node.expectHealthy().then(
      () => true,
      () => false,
    );
    if (isWell) throw new Error('the server still reports that it is healthy');
  }, BACK);
  await pause(AWAY_MS);
  stand.nats.disk?.makeRoom();
  await node.end();
  node.start();
  await eventually(() => node.expectHealthy(), BACK);
  return { shards };
}

/**
 * Replaces the store of one server by a copy that is some seconds old, so that one of three servers has lost its
 * latest writes.
 */
async function rollBackNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const node = random.pick(stand.nats.nodes);
  const copy = `${node.storeDir}-copy`;
  await node.end();
  await cp(node.storeDir, copy, { recursive: true });
  node.start();
  await eventually(() => node.expectHealthy(), BACK);
  await pause(AWAY_MS);
  const shards = await node.streamsLed();
  await node.kill();
  await rm(node.storeDir, { recursive: true });
  await rename(copy, node.storeDir);
  node.start();
  await eventually(() => node.expectHealthy(), BACK);
  return { shards };
}

/** Deletes the store of a server, which then copies all data from the others. */
async function wipeNats({ stand, random }: FaultParts): Promise<StruckFault> {
  const node = random.pick(stand.nats.nodes);
  const shards = await node.streamsLed();
  await node.kill();
  await rm(node.storeDir, { recursive: true });
  node.start();
  await eventually(() => node.expectHealthy(), BACK);
  return { shards };
}

export const FAULTS = {
  join,
  leave,
  'SIGTERM of a process': termProcess,
  'rolling restart': rollingRestart,
  'kill -9 of an owner': killOwner,
  'freeze of an owner': freezeOwner,
  'starvation of an owner': starveOwner,
  'a busy machine': busyMachine,
  'a wrong clock': wrongClock,
  'SIGTERM of each nats-server': termEachNats,
  'kill -9 of a nats-server': killNats,
  'freeze of a nats-server': freezeNats,
  'starvation of a nats-server': starveNats,
  'a nats-server parted from the others': partNats,
  'two nats-servers parted from each other': partTwoNats,
  'a full disk of a nats-server': fillDisk,
  'a store rolled back': rollBackNats,
  'a store wiped': wipeNats,
  'two nats-servers killed': killTwoNats,
  'everything stopped': everythingStopped,
  'cut off from NATS': cutOff,
  'silence between a process and NATS': silence,
  'silence one way between a process and NATS': silenceOneWay,
  'NATS connection lost for an instant': cutConnections,
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;

/** Two lists of faults that may be combined: one fault of a process or its connection, and one of a nats-server. */
export const OF_PROCESSES: readonly FaultName[] = [
  'leave',
  'SIGTERM of a process',
  'kill -9 of an owner',
  'freeze of an owner',
  'starvation of an owner',
  'a wrong clock',
  'cut off from NATS',
  'silence between a process and NATS',
  'silence one way between a process and NATS',
  'NATS connection lost for an instant',
];
export const OF_SERVERS: readonly FaultName[] = [
  'SIGTERM of each nats-server',
  'kill -9 of a nats-server',
  'freeze of a nats-server',
  'starvation of a nats-server',
  'a nats-server parted from the others',
  'two nats-servers parted from each other',
  'a full disk of a nats-server',
  'a store rolled back',
  'a store wiped',
];
/** Faults that affect all servers and are not combined. */
export const OF_ALL: readonly FaultName[] = [
  'rolling restart',
  'a busy machine',
  'two nats-servers killed',
  'everything stopped',
];

/** Returns true if the stand supports the fault. */
export function isPossible({ nats }: ClusterStand, name: FaultName): boolean {
  return name !== 'a full disk of a nats-server' || nats.disk !== undefined;
}

/**
 * Waits until two servers report a leader; a single server may report an old one. @returns the wall-clock time in
 * milliseconds
 */
async function quorum({ nats }: ClusterStand): Promise<number> {
  await eventually(async () => {
    const known = await Promise.allSettled(nats.nodes.map((node) => node.expectLed()));
    if (known.filter(({ status }) => status === 'fulfilled').length < 2) throw new Error('no quorum');
  }, BACK);
  return Date.now();
}

async function expectEdgeReady({ metricsUrl }: MillraceProcess): Promise<void> {
  const answer = await fetch(`${metricsUrl}/readyz/edge`);
  if (answer.status !== 200) throw new Error(await answer.text());
}
