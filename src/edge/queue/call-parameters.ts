/** OpenAPI descriptions of the parameters of lists and bulk calls, by name; call-filters.ts validates them. */
import { PRIORITIES } from '../../domain/queue/index.js';
import { FAILURE_FUNCTION_STATES } from '../../domain/queue/runs/index.js';
import type { BodyShape } from '../http/body-shape.js';
import {
  type ApiParameter,
  FLAG,
  type JsonSchema,
  listOf,
  queryParameter,
  record,
  TEXT,
  WHOLE,
  wordOf,
} from '../http/openapi/parts.js';

interface Known {
  readonly schema: JsonSchema;
  readonly about?: string;
}

const INSTANT_OF: JsonSchema = { ...WHOLE, minimum: 0 };
const SEVERAL = 'Several are or-ed.';
const texts = (about = SEVERAL): Known => ({ schema: listOf(TEXT), about });
const one = (about: string): Known => ({ schema: TEXT, about });

const KNOWN: Readonly<Record<string, Known>> = {
  messageId: texts(),
  messageIds: texts('Exactly these; other filters have no effect.'),
  dlqIds: texts('Exactly these; other filters have no effect.'),
  workflowRunIds: texts('Exactly these; other filters have no effect.'),
  workflowRuns: texts('id@createdAt; other filters have no effect.'),
  url: texts('Whole URLs; several are or-ed.'),
  host: texts(),
  path: texts(),
  topicName: texts('URL groups; several are or-ed.'),
  endpointId: one('An endpoint of the application.'),
  eventId: one('The webhook-id of an event.'),
  queueName: texts(),
  scheduleId: texts(),
  label: texts(),
  flowControlKey: texts(),
  callerIp: texts(),
  callerIP: texts('As callerIp.'),
  priority: { schema: listOf(wordOf(PRIORITIES)), about: SEVERAL },
  workflowUrl: texts('Whole URLs; several are or-ed.'),
  workflowRunId: texts(),
  workflowUrlExactMatch: { schema: FLAG, about: 'False: also URLs that begin with this one.' },
  workflowCreatedAt: { schema: INSTANT_OF, about: 'Milliseconds since 1970.' },
  state: texts('In any case of letters; several are or-ed.'),
  responseStatus: {
    schema: listOf(WHOLE),
    about: 'The status of the last response; 0: no response. Several are or-ed.',
  },
  failureFunctionState: { schema: listOf(wordOf(FAILURE_FUNCTION_STATES)), about: SEVERAL },
  failureCallbackState: { schema: listOf(wordOf(FAILURE_FUNCTION_STATES)), about: 'As failureFunctionState.' },
  fromDate: { schema: INSTANT_OF, about: 'The earliest instant, inclusive. Milliseconds since 1970.' },
  toDate: { schema: INSTANT_OF, about: 'The latest instant, inclusive. Milliseconds since 1970.' },
  source: { schema: wordOf(['workflow']), about: 'Failed runs instead of messages.' },
  groupBy: one('By message or by run: messageId, or workflowRunId.'),
  trimBody: { schema: { ...WHOLE, minimum: -1 }, about: 'Bytes of each body that are shown; -1: none. Left out: all.' },
  order: { schema: wordOf(['earliestFirst', 'latestFirst']) },
  count: { schema: { ...WHOLE, minimum: 1 }, about: 'The highest number of results.' },
  cursor: one('The cursor of the page before.'),
  search: one('A part of the key.'),
  cron: one('Five fields, or a word such as @daily.'),
  cancel: { schema: FLAG, about: 'False: the run succeeds, with the body as its result.' },
};

export function filterParameters(names: Iterable<string>): readonly ApiParameter[] {
  return [...names].map((name) => {
    const { schema, about } = knownParameter(name);
    return queryParameter(name, about, schema);
  });
}

/** The same parameters as members of a body, which bulk calls also accept. */
export function filterBody(names: Iterable<string>): BodyShape {
  return {
    of: record({}, filterMembers(names)),
    isNeeded: false,
    description: 'The parameters of the query may be given here instead.',
  };
}

export function filterMembers(names: Iterable<string>): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries([...names].map((name) => [name, memberOf(knownParameter(name).schema)]));
}

/** A single value means a list with one value. */
function memberOf(schema: JsonSchema): JsonSchema {
  return schema.type === 'array' ? { oneOf: [schema.items as JsonSchema, schema] } : schema;
}

function knownParameter(name: string): Known {
  return KNOWN[name] ?? { schema: TEXT };
}
