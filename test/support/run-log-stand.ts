/** A run log over a real owner: the owner's events are stored as in its journal and folded. */
import { encodeQueueEvent } from '../../src/codec/queue/index.js';
import { SnapshotStore } from '../../src/journal/index.js';
import type { LoggedRun, LoggedStep, RunEvent, RunEventQuery, RunQuery, StepGroup } from '../../src/ports/index.js';
import type { ReadModelOptions, ReadModels } from '../../src/projections/index.js';
import { queuePartition } from '../../src/protocol/index.js';
import { CLUSTER } from '../spec/journal/shard-history.js';
import { ACCOUNT, MessageLogStand, QUEUE_SHARD } from './message-log-stand.js';
import { silentLog } from './silent-log.js';
import { WorkflowSpec } from './workflow-spec.js';

export const ALL_RUNS: RunQuery = {
  filter: {},
  states: [],
  stepStates: [],
  count: 10,
  cursor: undefined,
  trimBytes: undefined,
};
export const ALL_RUN_EVENTS: RunEventQuery = {
  filter: {},
  states: [],
  order: 'earliestFirst',
  count: 1000,
  cursor: undefined,
  trimBytes: undefined,
};

export class RunLogStand {
  readonly spec = new WorkflowSpec();
  readonly stand = new MessageLogStand();
  readonly models: ReadModels;
  #stored = 0;

  constructor(options: Partial<ReadModelOptions> = {}) {
    this.models = this.stand.open(options);
  }

  get position(): number {
    return this.stand.history.head.position;
  }

  /** Stores the new events as one entry. */
  async store(): Promise<this> {
    const { journal } = this.spec.queue;
    if (this.#stored < journal.length) await this.stand.store(journal.slice(this.#stored));
    this.#stored = journal.length;
    return this;
  }

  /** All runs, page by page. */
  async runs(query: Partial<RunQuery> = {}, models = this.models): Promise<LoggedRun[]> {
    await this.store();
    const runs: LoggedRun[] = [];
    let cursor: string | undefined;
    do {
      const page = await models.runs(ACCOUNT, { ...ALL_RUNS, ...query, cursor }, this.position);
      runs.push(...page.runs);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return runs;
  }

  async run(runId = 'r', models = this.models): Promise<LoggedRun> {
    const [found, ...others] = await this.runs(
      { filter: { runs: [{ runId: runId as never, createdAtMs: undefined }] } },
      models,
    );
    if (found === undefined || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} runs ${runId}`);
    return found;
  }

  /** All events of runs, page by page. */
  async events(query: Partial<RunEventQuery> = {}, models = this.models): Promise<RunEvent[]> {
    await this.store();
    const events: RunEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = await models.runEvents(ACCOUNT, { ...ALL_RUN_EVENTS, ...query, cursor }, this.position);
      events.push(...page.events);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return events;
  }

  /** Makes a snapshot of the owner's state and removes the journal up to it. */
  async snapshotAndTruncate(): Promise<void> {
    await this.store();
    const { history, journal, objects, snapshotBodies } = this.stand;
    const { shelf, engine } = this.spec.queue;
    for (const [number, content] of shelf.contents) snapshotBodies.set(number, content);
    const store = new SnapshotStore(objects, silentLog);
    const name = queuePartition(ACCOUNT);
    const bytes = Buffer.concat([...engine.rebuildingEvents()].map((event) => encodeQueueEvent(event)));
    const { head } = history;
    const segment = await store.writeSegment(QUEUE_SHARD, head.number, name, 0, new Uint8Array(bytes));
    const link = history.links().get(name);
    if (link === undefined) throw new Error('nothing was stored');
    await store.writeManifest({
      shard: QUEUE_SHARD,
      clusterId: CLUSTER,
      head,
      partitions: [{ name, index: link.number, hash: link.hash, keys: 1, digest: '', segments: [segment] }],
      recentCommandIds: [],
      createdAtMs: 0,
      headStoredAtMs: 0,
      journalBytes: 1,
    });
    await this.stand.store([{ type: 'IntakeTaken', position: 0, atMs: this.spec.queue.nowMs }]);
    await journal.truncateFront(QUEUE_SHARD, head.position + 1);
  }

  end(): Promise<void> {
    return this.stand.end();
  }
}

/** Steps in short form: `init | 1 Run STEP_SUCCESS + 2 … | next STEP_PROGRESS`. */
export function brief(groups: readonly StepGroup[]): string {
  return groups.map(briefGroup).join(' | ');
}

function briefGroup(group: StepGroup): string {
  if (group.type === 'next') {
    const deliveries = group.deliveries.map(
      ({ messageId, state, failures }) =>
        `${messageId} ${state}${failures.length > 0 ? ` after ${failures.map(({ error }) => error)}` : ''}`,
    );
    return `next ${deliveries.join(' + ')}`;
  }
  const steps = group.steps.map(briefStep).join(' + ');
  return group.type === 'parallel' ? `(${steps})` : steps;
}

function briefStep({ stepId, stepName, stepType, callType, state, failures }: LoggedStep): string {
  const name = stepId === undefined ? stepName : `${stepId} ${stepType}`;
  const how = callType === 'step' ? '' : ` ${callType}`;
  const why = failures.length === 0 ? '' : ` after ${failures.map(({ error }) => error)}`;
  return `${name}${how} ${state.slice('STEP_'.length)}${why}`;
}
