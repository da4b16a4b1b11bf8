/** What `/readyz` looks at. */
import type { DependencyContainer } from 'tsyringe';
import type { ClockWatch, ShardHost, Work } from '../actors/runtime/index.js';
import type { Check } from '../adapters/http-health/index.js';
import type { Clock, Log, Timers } from '../ports/index.js';
import type { ControlRole } from './control-role.js';
import * as tokens from './tokens.js';

type OwnedShards = Pick<ShardHost<Work>, 'stoppedShards' | 'lookFailures' | 'isSettled'>;

/** Of what this process has by now. */
export function healthChecks(c: DependencyContainer): () => Record<string, Check> {
  const world = c.resolve(tokens.WORLD);
  const control = c.resolve(tokens.CONTROL);
  const clocks = c.resolve(tokens.CLOCK_WATCH);
  const hosts = [tokens.ifRegistered(c, tokens.KV_HOST), tokens.ifRegistered(c, tokens.QUEUE_HOST)].filter(isThere);
  const readModels = tokens.ifRegistered(c, tokens.PROJECTION_ROLE);
  const searches = tokens.ifRegistered(c, tokens.SEARCH_ROLE);
  return () => {
    const isConnected = world.connections.appends.isConnected();
    const checks: Record<string, Check> = {
      nats: isConnected ? { ok: true } : { ok: false, detail: 'not connected' },
      control: controlCheck(control),
    };
    if (hosts.length > 0) checks.clock = clockCheck(clocks);
    if (hosts.length > 0) checks.shards = shardsCheck(hosts);
    if (readModels !== undefined) checks['read-models'] = readModels.check();
    if (searches !== undefined) checks.search = searches.check();
    return checks;
  };
}

function isThere<T>(part: T | undefined): part is T {
  return part !== undefined;
}

/** A clock is set right by a person: a start does not wait for that. */
function clockCheck(clocks: ClockWatch): Check {
  return clocks.isExcluded ? { ok: false, isStuck: true, detail: clocks.describe() } : { ok: true };
}

function controlCheck(control: ControlRole): Check {
  if (!control.isFresh()) return { ok: false, detail: 'nothing heard from the control stream' };
  return control.hasAnswered() ? { ok: true } : { ok: false, detail: 'the control shard has not answered yet' };
}

function shardsCheck(hosts: readonly OwnedShards[]): Check {
  const stopped = hosts.flatMap((host) => [...host.stoppedShards().keys()]);
  if (stopped.length > 0) {
    return { ok: false, isStuck: true, detail: `stopped, the journal is in doubt: ${stopped.join(', ')}` };
  }
  if (!hosts.every((host) => host.isSettled())) {
    const why = hosts.flatMap((host) => [...host.lookFailures()].map(([shard, reason]) => `; ${shard}: ${reason}`));
    return { ok: false, detail: `shards are loading or moving${why.join('')}` };
  }
  return { ok: true };
}

/** Between two looks whether all is ready. */
const LOOK_EVERY_MS = 20;
/** Whoever waits for a process to become ready is told what for. */
const TELL_EVERY_MS = 10_000;

/** Resolves when every check is well, or will not become so by itself: that is for `/readyz` to say. */
export async function untilReady(
  checks: () => Record<string, Check>,
  { timers, clock, log }: { readonly timers: Timers; readonly clock: Clock; readonly log: Log },
): Promise<void> {
  let toldAtMs = clock.monotonicMs();
  for (;;) {
    const awaited = Object.entries(checks()).filter(([, { ok, isStuck }]) => !ok && isStuck !== true);
    if (awaited.length === 0) return;
    if (clock.monotonicMs() - toldAtMs >= TELL_EVERY_MS) {
      toldAtMs = clock.monotonicMs();
      log.info('process.not-ready-yet', Object.fromEntries(awaited.map(([name, { detail }]) => [name, detail ?? ''])));
    }
    await timers.pause(LOOK_EVERY_MS);
  }
}
