/** A trigger as the API shows it, and its schemas. */
import type { Trigger } from '../../../domain/control/index.js';
import { KEY_EVENTS } from '../../../domain/kv/index.js';
import type { TriggerLag } from '../../../ports/index.js';
import { uuidOf } from '../../../protocol/index.js';
import { FLAG, INSTANT, type JsonSchema, listOf, OBJECT, record, TEXT, WHOLE } from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';

/** @param lag undefined: not known at present */
export function triggerRecord(trigger: Trigger, lag: TriggerLag | undefined) {
  const { destination, options, starts } = trigger;
  return {
    triggerId: trigger.id,
    name: trigger.name,
    database: uuidOf(trigger.database),
    patterns: trigger.patterns,
    events: trigger.events,
    filter: trigger.filter === '' ? undefined : trigger.filter,
    destination: destinationRecord(destination),
    options: Object.fromEntries(options.map(({ name, value }) => [name, value])),
    values: trigger.values,
    order: trigger.order,
    lanes: trigger.lanes,
    from: trigger.from,
    starts: Object.fromEntries(starts.map(({ shard, position }) => [shard, position])),
    isPaused: trigger.isPaused,
    state: lag?.lost !== undefined ? ('lost' as const) : trigger.isPaused ? ('paused' as const) : ('active' as const),
    reason: lag?.lost,
    createdAt: trigger.createdAtMs,
    lagEntries: lag?.entries,
    lagSeconds: lag && lag.lagMs / 1000,
  };
}

function destinationRecord({ kind, target, queue }: Trigger['destination']) {
  if (kind === 'workflow') return { workflow: target };
  const isUrl = /^https?:/i.test(target);
  return { ...(isUrl ? { url: target } : { group: target }), ...(queue !== '' && { queue }) };
}

const DESTINATION = record(
  {},
  {
    url: { ...TEXT, description: 'A URL.' },
    group: { ...TEXT, description: 'The name of a URL group.' },
    queue: { ...TEXT, description: 'The queue that the messages go through.' },
    workflow: { ...TEXT, description: 'The URL of a workflow: each record starts a run.' },
  },
);
const EVENT: JsonSchema = { ...TEXT, enum: KEY_EVENTS };
const OPTIONS: JsonSchema = { ...OBJECT, additionalProperties: TEXT, description: 'Headers of a publish.' };
const VALUES: JsonSchema = listOf({ ...TEXT, enum: ['before', 'after'] });
const ORDER: JsonSchema = { ...TEXT, enum: ['key', 'none'] };

/** Members that a caller may give for an existing trigger. */
const TRIGGER_CHANGES = {
  name: TEXT,
  patterns: { ...listOf(TEXT), minItems: 1 },
  events: { ...listOf(EVENT), minItems: 1 },
  filter: { ...TEXT, description: 'In the filter language of search, on JSON documents and hashes.' },
  destination: { oneOf: [TEXT, DESTINATION] },
  options: OPTIONS,
  values: { ...VALUES, description: 'Values that a record shows in addition to the commands. Left out: none.' },
  order: { ...ORDER, description: 'key: a later change of a key waits for the earlier one. Left out: key.' },
  lanes: { ...WHOLE, minimum: 1, description: 'Keys are spread over so many queues. Left out: 1.' },
} satisfies Readonly<Record<string, JsonSchema>>;

const { patterns, events, destination, ...optional } = TRIGGER_CHANGES;
const FROM: JsonSchema = { ...TEXT, description: 'now, snapshot, or an instant of ISO 8601. Left out: now.' };

export const NEW_TRIGGER = record(
  { patterns, events, destination },
  { ...optional, database: { ...TEXT, description: 'Left out: the oldest database of the account.' }, from: FROM },
);
export const CHANGED_TRIGGER = record({}, TRIGGER_CHANGES);
export const SKIPPED_TRIGGER = record(
  {},
  { to: { ...TEXT, description: 'now, or an instant of ISO 8601. Left out: now.' } },
);

export const TRIGGER_SCHEMAS = {
  TriggerMade: record({ triggerId: TEXT }),
  Trigger: recordSchema<ReturnType<typeof triggerRecord>>(
    {
      triggerId: TEXT,
      name: TEXT,
      database: TEXT,
      patterns: listOf(TEXT),
      events: listOf(EVENT),
      destination: DESTINATION,
      options: OPTIONS,
      values: VALUES,
      order: ORDER,
      lanes: WHOLE,
      from: { ...TEXT, enum: ['now', 'time', 'snapshot'] },
      starts: { ...OBJECT, additionalProperties: WHOLE, description: 'Positions of journals, by shard.' },
      isPaused: FLAG,
      state: {
        ...TEXT,
        enum: ['active', 'paused', 'lost'],
        description: 'lost: the history is shorter than the lag, and only a skip to a later moment goes on.',
      },
      createdAt: INSTANT,
    },
    {
      filter: TEXT,
      reason: { ...TEXT, description: 'Why the trigger is lost.' },
      lagEntries: { ...WHOLE, description: 'Positions of the journals that were not read yet.' },
      lagSeconds: {
        type: 'number',
        description: 'Age of the first entry that was not read yet, exact to five seconds.',
      },
    },
  ),
  TriggerRecord: record(
    {
      trigger: TEXT,
      id: { ...TEXT, description: 'The same at every attempt and in every feed.' },
      database: TEXT,
      key: { description: 'A text, {"base64": …} for other bytes, or null for all keys.' },
      event: { ...TEXT, enum: [...KEY_EVENTS, 'snapshot'] },
      operation: TEXT,
      entry: { ...WHOLE, description: 'The position of the entry in the journal.' },
      time: TEXT,
    },
    {
      commands: { ...listOf(listOf({})), description: 'Redis commands that make this change.' },
      commandBytes: { ...WHOLE, description: 'Their size, where they are too large.' },
      before: { description: 'The value before: type, bytes, and the value where it is small.' },
      after: { description: 'The value after.' },
    },
  ),
  TriggerRecords: record({ records: listOf({ $ref: '#/components/schemas/TriggerRecord' }), cursor: TEXT }),
};
