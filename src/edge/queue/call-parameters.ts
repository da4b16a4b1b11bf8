/** What the OpenAPI document says of the parameters of lists and bulk calls, by their names; call-filters judges them. */
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
  messageIds: texts('These, whatever the other parameters say.'),
  dlqIds: texts('These, whatever the other parameters say.'),
  workflowRunIds: texts('These, whatever the other parameters say.'),
  workflowRuns: texts('id@createdAt: these, whatever the other parameters say.'),
  url: texts('Whole URLs; several are or-ed.'),
  host: texts(),
  path: texts(),
  topicName: texts('URL groups; several are or-ed.'),
  queueName: texts(),
  scheduleId: texts(),
  label: texts(),
  flowControlKey: texts(),
  callerIp: texts(),
  callerIP: texts('As callerIp.'),
  workflowUrl: texts('Whole URLs; several are or-ed.'),
  workflowRunId: texts(),
  workflowUrlExactMatch: { schema: FLAG, about: 'False: what begins with the URL, too.' },
  workflowCreatedAt: { schema: INSTANT_OF, about: 'Milliseconds since 1970.' },
  state: texts('In any case of letters; several are or-ed.'),
  responseStatus: { schema: listOf(WHOLE), about: 'Of the last answer; 0: there was none. Several are or-ed.' },
  failureFunctionState: { schema: listOf(wordOf(FAILURE_FUNCTION_STATES)), about: SEVERAL },
  failureCallbackState: { schema: listOf(wordOf(FAILURE_FUNCTION_STATES)), about: 'As failureFunctionState.' },
  fromDate: { schema: INSTANT_OF, about: 'From this instant on, which belongs to it. Milliseconds since 1970.' },
  toDate: { schema: INSTANT_OF, about: 'Up to this instant, which belongs to it. Milliseconds since 1970.' },
  source: { schema: wordOf(['workflow']), about: 'Failed runs in place of messages.' },
  groupBy: one('By message or by run: messageId, or workflowRunId.'),
  trimBody: { schema: { ...WHOLE, minimum: -1 }, about: 'Bytes of each body that are shown; -1: none. Left out: all.' },
  order: { schema: wordOf(['earliestFirst', 'latestFirst']) },
  count: { schema: { ...WHOLE, minimum: 1 }, about: 'At most so many.' },
  cursor: one('Where the page before ended.'),
  search: one('A part of the key.'),
  cron: one('Five fields, or a word such as @daily.'),
  cancel: { schema: FLAG, about: 'False: the run ends well, and the body is what it came to.' },
};

export function filterParameters(names: Iterable<string>): readonly ApiParameter[] {
  return [...names].map((name) => {
    const { schema, about } = knownParameter(name);
    return queryParameter(name, about, schema);
  });
}

/** The same as members of a body, which bulk calls take, too. */
export function filterBody(names: Iterable<string>): BodyShape {
  const members = [...names].map((name): [string, JsonSchema] => [name, memberOf(knownParameter(name).schema)]);
  return {
    of: record({}, Object.fromEntries(members)),
    isNeeded: false,
    description: 'The parameters of the query may stand here in its place.',
  };
}

/** One value stands for a list of one. */
function memberOf(schema: JsonSchema): JsonSchema {
  return schema.type === 'array' ? { oneOf: [schema.items as JsonSchema, schema] } : schema;
}

function knownParameter(name: string): Known {
  return KNOWN[name] ?? { schema: TEXT };
}
