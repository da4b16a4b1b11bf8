/** Schemas of groups, queues, flow-control keys and schedules, by their names in the OpenAPI document. */
import { FLAG, HEADERS, INSTANT, type JsonSchema, listOf, schemaNamed, TEXT, WHOLE } from '../../http/openapi/parts.js';
import { recordSchema } from '../../http/openapi/record-schema.js';
import { BODY_MEMBERS, CALLER_MEMBERS, METHOD, SETTINGS_MEMBERS } from '../../records/record-schemas.js';
import type { flowRecord, groupRecord, queueRecord } from './resource-records.js';
import type { scheduleRecord } from './schedule-record.js';

type Endpoint = ReturnType<typeof groupRecord>['endpoints'][number];

const COUNT_OR_NONE: JsonSchema = { ...WHOLE, description: '0: there is no limit.' };

export const RESOURCE_SCHEMAS = {
  UrlGroup: recordSchema<ReturnType<typeof groupRecord>>(
    { name: TEXT, createdAt: INSTANT, updatedAt: INSTANT, endpoints: listOf(schemaNamed('Endpoint')) },
    {},
  ),
  Endpoint: recordSchema<Endpoint>({ url: TEXT }, { name: TEXT }),
  Queue: recordSchema<ReturnType<typeof queueRecord>>(
    {
      name: TEXT,
      parallelism: WHOLE,
      paused: FLAG,
      lag: { ...WHOLE, description: 'Messages that wait or are on their way.' },
      createdAt: INSTANT,
      updatedAt: INSTANT,
    },
    {},
  ),
  FlowControl: recordSchema<ReturnType<typeof flowRecord>>(
    {
      flowControlKey: TEXT,
      waitListSize: { ...WHOLE, description: 'Messages that wait for the key.' },
      parallelismMax: COUNT_OR_NONE,
      parallelismCount: { ...WHOLE, description: 'Attempts under way.' },
      rateMax: COUNT_OR_NONE,
      rateCount: { ...WHOLE, description: 'Attempts that the period has seen.' },
      ratePeriod: { ...WHOLE, description: 'Seconds.' },
      ratePeriodStart: { ...WHOLE, description: 'Seconds since 1970.' },
      isPaused: FLAG,
      isPinnedParallelism: FLAG,
      isPinnedRate: FLAG,
    },
    {},
  ),
  Schedule: recordSchema<ReturnType<typeof scheduleRecord>>(
    {
      scheduleId: TEXT,
      cron: TEXT,
      destination: { ...TEXT, description: 'A URL, or the name of a URL group.' },
      method: METHOD,
      createdAt: INSTANT,
      isPaused: FLAG,
      retries: WHOLE,
      header: HEADERS,
      nextScheduleTime: INSTANT,
    },
    {
      ...BODY_MEMBERS,
      delay: { ...WHOLE, description: 'Seconds.' },
      timeout: { ...WHOLE, description: 'Seconds.' },
      queueName: TEXT,
      ...SETTINGS_MEMBERS,
      callbackHeader: HEADERS,
      failureCallbackHeader: HEADERS,
      ...CALLER_MEMBERS,
      lastScheduleTime: INSTANT,
      lastScheduleStates: {
        type: 'object',
        additionalProperties: TEXT,
        description: 'Of the messages of the last tick, by their ids: IN_PROGRESS, SUCCESS or FAIL.',
      },
    },
  ),
} satisfies Readonly<Record<string, JsonSchema>>;
