/** `/v2/triggers`: rules that send the changes of a database's keys to a destination. */
import type { ControlReply, Trigger } from '../../../domain/control/index.js';
import type { DatabaseId, TriggerId } from '../../../kernel/index.js';
import type { LayoutWithFormer, TriggerMoment } from '../../../ports/index.js';
import { databaseIdOfUuid, momentOf, newTriggerId } from '../../../protocol/index.js';
import { askControl } from '../../control-asking.js';
import { notFound } from '../../error-map.js';
import { membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { CHANGED_TRIGGER, NEW_TRIGGER, SKIPPED_TRIGGER, triggerRecord } from '../records/trigger-record.js';
import { changesOf, newTriggerIn, triggerChangesIn } from '../requests/trigger-request.js';

type Listed = Extract<ControlReply, { readonly type: 'TriggersAre' }>;

const EXAMPLE = {
  name: 'orders',
  patterns: ['order:*'],
  events: ['set', 'del', 'expired'],
  destination: 'https://example.com/orders',
};

export const DATABASE_TRIGGER_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/triggers', {
    summary: 'Lists triggers with their lags.',
    permission: 'read',
    answer: lists('Trigger'),
    async handle(call) {
      const { triggers, databases } = await listed(call);
      const layoutOf = ({ database }: Trigger) => databases.find(({ id }) => id === database);
      const records = await Promise.all(triggers.map((trigger) => withLag(call, trigger, layoutOf(trigger))));
      await call.list(['[', ']'], records, (record) => record);
    },
  }),

  queueRoute('POST /v2/triggers', {
    summary: 'Makes a trigger, which sends the changes of keys to a destination.',
    permission: 'publish',
    bodyShape: { of: NEW_TRIGGER },
    example: EXAMPLE,
    answer: shows('TriggerMade'),
    handle: makeTrigger,
  }),

  queueRoute('GET /v2/triggers/:id', {
    summary: 'Shows a trigger with its lag.',
    permission: 'read',
    answer: shows('Trigger'),
    async handle(call, { path }) {
      const { trigger, layout } = await triggerIn(call, path.id);
      call.value(200, await withLag(call, trigger, layout));
    },
  }),

  queueRoute('PATCH /v2/triggers/:id', {
    summary: 'Changes members of a trigger; its position stays.',
    permission: 'change',
    bodyShape: { of: CHANGED_TRIGGER },
    example: { events: ['set'] },
    answer: shows('Trigger'),
    async handle(call, { path }) {
      const changes = changesOf(triggerChangesIn(membersOf(parseJson(call.body))));
      const { trigger, layout } = await triggerIn(call, path.id);
      await answerSet(call, checkedTrigger(call, { ...trigger, ...changes }), layout);
    },
  }),

  queueRoute('DELETE /v2/triggers/:id', {
    summary: 'Deletes a trigger. Messages in its queues are delivered; the queues are then removed.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      const { account } = call.grant;
      const command = { type: 'DeleteTrigger', account, trigger: path.id as TriggerId } as const;
      const { control, triggers } = call.endpoint.parts;
      const { trigger } = await askControl(control, command, 'OneTrigger');
      // Without an answer, the sweep removes them.
      await triggers.removeQueues(trigger).catch(() => undefined);
      call.done();
    },
  }),

  pauseRoute('pause', 'Pauses a trigger; its position stays.', true),
  pauseRoute('resume', 'Resumes a trigger at its position.', false),

  queueRoute('POST /v2/triggers/:id/skip', {
    summary: 'Skips the changes before a moment, which are then never sent.',
    permission: 'change',
    bodyShape: { of: SKIPPED_TRIGGER, isNeeded: false },
    example: { to: 'now' },
    answer: shows('Trigger'),
    async handle(call, { path }) {
      const members = call.body.length === 0 ? new Map<string, unknown>() : membersOf(parseJson(call.body));
      const moment = momentIn('to', members.get('to') ?? 'now');
      const { trigger, layout } = await triggerIn(call, path.id);
      const { firstPartition: _, ...rest } = trigger;
      const begins = await startsAt(call, trigger.database, layout, moment);
      await answerSet(call, { ...rest, from: moment.kind, ...begins }, layout);
    },
  }),
];

function pauseRoute(action: 'pause' | 'resume', summary: string, isPaused: boolean): QueueRoute {
  return queueRoute(`POST /v2/triggers/:id/${action}`, {
    summary,
    permission: 'change',
    answer: shows('Trigger'),
    async handle(call, { path }) {
      const { trigger, layout } = await triggerIn(call, path.id);
      await answerSet(call, { ...trigger, isPaused }, layout);
    },
  });
}

async function makeTrigger(call: QueueCall): Promise<void> {
  const request = newTriggerIn(membersOf(parseJson(call.body)));
  const { random, clock } = call.endpoint.parts;
  const { databases } = await listed(call);
  const database = databaseIn(databases, request.database);
  const from = request.from ?? 'now';
  const moment = from === 'snapshot' ? ({ kind: 'now' } as const) : momentIn('from', from);
  const draft: Trigger = checkedTrigger(call, {
    id: newTriggerId(random),
    account: call.grant.account,
    database: database.id,
    name: '',
    patterns: [],
    events: [],
    filter: '',
    destination: { kind: 'publish', target: '', queue: '' },
    options: [],
    values: [],
    order: 'key',
    lanes: 1,
    ...changesOf(request),
    from: from === 'snapshot' ? from : moment.kind,
    starts: [],
    isPaused: false,
    createdAtMs: Math.trunc(clock.nowMs()),
  });
  await makeQueues(call, draft);
  const begins = await startsAt(call, database.id, database, moment);
  await set(call, { ...draft, ...begins }, true);
  call.value(200, { triggerId: draft.id });
}

async function answerSet(call: QueueCall, trigger: Trigger, layout: LayoutWithFormer): Promise<void> {
  await makeQueues(call, trigger);
  await set(call, trigger, false);
  call.value(200, await withLag(call, trigger, layout));
}

function set(call: QueueCall, trigger: Trigger, isNew: boolean) {
  return askControl(call.endpoint.parts.control, { type: 'SetTrigger', trigger, isNew }, 'OneTrigger');
}

/** Queues exist before the first message needs one, so their limit refuses the trigger and not its messages. */
async function makeQueues(call: QueueCall, trigger: Trigger): Promise<void> {
  const { triggers } = call.endpoint.parts;
  const needed = triggers.queuesOf(trigger);
  if (needed.length === 0) return;
  const { queues } = await call.ask({ type: 'ListQueues' }, 'Queues');
  const known = new Set(queues.map(({ name }) => name));
  for (const name of needed) {
    if (!known.has(name)) await call.ask({ type: 'SetQueue', name, parallelism: 1, isPaused: false }, 'Done');
  }
}

/** @throws Refused 400 */
function checkedTrigger(call: QueueCall, trigger: Trigger): Trigger {
  const problem = call.endpoint.parts.triggers.problemOf(trigger, call.grant.terms);
  if (problem !== undefined) throw invalid(problem);
  return trigger;
}

async function withLag(call: QueueCall, trigger: Trigger, layout: LayoutWithFormer | undefined) {
  const lag = layout && (await call.endpoint.parts.triggers.lagOf(trigger, layout).catch(() => undefined));
  return triggerRecord(trigger, lag);
}

function listed(call: QueueCall): Promise<Listed> {
  const { account } = call.grant;
  return askControl(call.endpoint.parts.control, { type: 'ListTriggers', account }, 'TriggersAre');
}

/** The trigger, and the partitions of its database. @throws Refused 404 */
export async function triggerIn(call: QueueCall, id = ''): Promise<{ trigger: Trigger; layout: LayoutWithFormer }> {
  const { triggers, databases } = await listed(call);
  const trigger = triggers.find((one) => one.id === id);
  const database = databases.find((one) => one.id === trigger?.database);
  if (trigger === undefined || database === undefined) throw new RefusedRequest(notFound(`trigger ${id}`));
  return { trigger, layout: database };
}

/** @throws Refused 400, 404 */
function databaseIn(databases: Listed['databases'], named: string | undefined): Listed['databases'][number] {
  const id = named === undefined ? undefined : (databaseIdOfUuid(named) ?? named);
  const found = named === undefined ? databases[0] : databases.find((one) => one.id === id || one.name === named);
  if (found !== undefined) return found;
  throw new RefusedRequest(notFound(named === undefined ? 'database' : `database ${named}`));
}

/** @throws Refused 400 */
export function momentIn(name: string, given: unknown): TriggerMoment {
  if (given === 'now') return { kind: 'now' };
  const moment = typeof given === 'string' ? momentOf(given) : undefined;
  if (moment?.kind === 'time') return moment;
  throw invalid(`${name}: must be now${name === 'from' ? ', snapshot' : ''} or an instant like 2026-05-01T12:00:00Z`);
}

function startsAt(call: QueueCall, database: DatabaseId, layout: LayoutWithFormer, moment: TriggerMoment) {
  const { triggers, clock } = call.endpoint.parts;
  if (moment.kind === 'time' && moment.atMs > clock.nowMs()) throw invalid('from: must not be in the future');
  return triggers.startsAt(database, layout, moment);
}
