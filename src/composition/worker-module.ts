/** A worker among those of its machine: it joins them, and keeps the read models when its supervisor asks for it. */
import type { DependencyContainer } from 'tsyringe';
import { ownerOfConnection } from '../edge/index.js';
import { describeError, isMillraceError, type SessionId, type ShardName } from '../kernel/index.js';
import type { Acceptor, Check } from '../ports/index.js';
import { readinessOfModels, readinessOfSearch } from '../projections/index.js';
import { registerReadModels, startReadModels } from './projections-module.js';
import { registerSearch, startSearch } from './search-module.js';
import * as tokens from './tokens.js';

/** The former keeper may be frozen: its lock on the files ends with it. */
const LOCK_TRY_EVERY_MS = 500;
/** A heartbeat takes a millisecond, and is repeated soon. */
const HEARD_WITHIN_MS = 1_000;
const HEARD_TRY_EVERY_MS = 5;

export function isWorker(c: DependencyContainer): boolean {
  return tokens.ifRegistered(c, tokens.WORKER) !== undefined;
}

/** Tells the supervisor each session of this process, and waits for workers that start at the same time. */
export async function joinWorkers(c: DependencyContainer): Promise<void> {
  const worker = tokens.ifRegistered(c, tokens.WORKER);
  if (worker === undefined) return;
  const session = c.resolve(tokens.SESSION);
  const { processId } = session;
  let known = session.id;
  c.resolve(tokens.MEMBERSHIP).whenHeard(({ process, session: current }) => {
    if (process !== processId || current === known) return;
    known = current;
    worker.link.haveSession({ process, session: current });
  });
  const others = await worker.link.join({ process: processId, session: known });
  await untilHeard(c, others);
}

/** Without the others' heartbeats this process would take their shards, which then move. */
async function untilHeard(c: DependencyContainer, processes: readonly SessionId[]): Promise<void> {
  const membership = c.resolve(tokens.MEMBERSHIP);
  const { timers } = tokens.storagePortsOf(c);
  for (let waitedMs = 0; waitedMs < HEARD_WITHIN_MS; waitedMs += HEARD_TRY_EVERY_MS) {
    const heard = membership.liveProcesses(Number.POSITIVE_INFINITY);
    if (processes.every((process) => heard.includes(process))) return;
    await timers.pause(HEARD_TRY_EVERY_MS);
  }
}

/** The ports of the workers, which give connections to the owners of their databases. Undefined in a single process. */
export function sharedPortsOf(c: DependencyContainer): Acceptor | undefined {
  const { link, start } = tokens.ifRegistered(c, tokens.WORKER) ?? {};
  const { view: access, accounts } = c.resolve(tokens.CONTROL);
  const session = c.resolve(tokens.SESSION);
  const owners = {
    access,
    accounts,
    databases: c.resolve(tokens.GATEWAY),
    queues: c.resolve(tokens.QUEUE_GATEWAY),
    ownerOf: (shard: ShardName) => session.expectedOwner(shard, c.resolve(tokens.CONFIG).ownership.takeoverSilenceMs),
  };
  link?.findOwnersWith((beginning) => ownerOfConnection(owners, beginning));
  return start && link?.acceptorFor(start);
}

/** @returns the checks of the read models that this process keeps at the time */
export function modelChecksOf(c: DependencyContainer): () => Record<string, Check> {
  const worker = tokens.ifRegistered(c, tokens.WORKER);
  const keeper: { container: DependencyContainer | undefined } = { container: worker === undefined ? c : undefined };
  if (worker !== undefined && c.resolve(tokens.CONFIG).process.roles.includes('projection')) {
    void worker.link.onDuty.then(() => {
      keeper.container = c.createChildContainer();
      return keepModels(keeper.container);
    });
  }
  return () => {
    const readModels = keeper.container && tokens.ifRegistered(keeper.container, tokens.READ_MODELS_THREAD);
    const searches = keeper.container && tokens.ifRegistered(keeper.container, tokens.SEARCH_THREAD);
    return {
      ...(readModels && {
        'read-models': readinessOfModels(readModels.status?.readModels, readModels.status?.statistics),
      }),
      ...(searches && { search: readinessOfSearch(searches.status) }),
    };
  };
}

/** Never rejects: without its read models the worker still serves, and reports that it is not ready. */
async function keepModels(c: DependencyContainer): Promise<void> {
  const log = c.resolve(tokens.LOG);
  try {
    registerReadModels(c);
    registerSearch(c);
    const { link } = c.resolve(tokens.WORKER);
    const care = c.resolve(tokens.READ_MODEL_CARE);
    link.whenRebuilt((model) => care.rebuild(model));
    await startModels(c);
    await startSearch(c);
  } catch (error) {
    log.error('worker.models-not-kept', { cause: describeError(error) });
  }
}

async function startModels(c: DependencyContainer): Promise<void> {
  const life = c.resolve(tokens.LIFETIME);
  while (!life.isEnding) {
    try {
      await startReadModels(c);
      return;
    } catch (error) {
      if (!isMillraceError(error, 'CONFLICT')) throw error;
      await c.resolve(tokens.TIMERS).pause(LOCK_TRY_EVERY_MS);
    }
  }
}
