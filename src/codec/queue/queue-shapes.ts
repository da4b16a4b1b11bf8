/** Parts that events, commands and answers have in common. The order of fields is the format (S1 of shapes.ts). */
import {
  type BodyRef,
  type CallbackSetting,
  type CarriedBody,
  type DeliverySettings,
  type DlqSelectorBy,
  type FlowControlSetting,
  type GroupEndpoint,
  type HeaderList,
  HTTP_METHODS,
  type LastResponse,
  type MessageStatus,
  type RawSettings,
  type Redaction,
  type ScheduleDestination,
  type ScheduleOutcome,
  type UrlGroup,
} from '../../domain/queue/index.js';
import type { DlqId, MessageId, ScheduleId } from '../../kernel/index.js';
import {
  bytes,
  evenList,
  fields,
  flag,
  later,
  listOf,
  mapOf,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  union,
  whole,
} from './shapes.js';

export const messageId = text<MessageId>();
export const scheduleId = text<ScheduleId>();
export const dlqId = text<DlqId>();
export const texts = listOf(text());
export const optionalText = optional(text());

/** Names and values one behind the other: a list of its own for each pair would be a byte more and slower. */
export const headerList: Shape<HeaderList> = {
  write: (out, headers) => {
    out.list(headers.length * 2);
    for (const [name, value] of headers) {
      out.text(name);
      out.text(value);
    }
  },
  read: (from) => {
    const headers: [string, string][] = [];
    for (let left = evenList(from); left > 0; left -= 2) headers.push([from.text(), from.text()]);
    return headers;
  },
};

/** Settings as they came, to be read by the owner. */
export const rawSettings = record<RawSettings>({ headers: headerList, query: headerList });

const flowControl = record<FlowControlSetting>({
  key: text(),
  parallelism: optional(whole),
  rate: optional(whole),
  periodSeconds: whole,
});

const redaction = record<Redaction>({ body: flag, allHeaders: flag, headers: texts });

const callback = record<CallbackSetting>({ url: text(), settings: later(() => settings) });

export const settings: Shape<DeliverySettings> = record<DeliverySettings>({
  method: oneOf(...HTTP_METHODS),
  header: headerList,
  maxRetries: whole,
  retryDelay: optionalText,
  timeoutSeconds: optional(whole),
  delaySeconds: whole,
  callback: optional(callback),
  failureCallback: optional(callback),
  flowControl: optional(flowControl),
  labels: texts,
  redact: optional(redaction),
});

const bodyRefFields = { number: whole, bytes: whole };
export const bodyRef = record<BodyRef>(bodyRefFields);
export const carriedBody = record<CarriedBody>({ ...bodyRefFields, content: optional(bytes) });

export const messageStatus = oneOf<MessageStatus>('waiting', 'active', 'delivered');

export const lastResponse = record<LastResponse>({ status: whole, header: headerList, body: bodyRef, error: text() });

const endpoint = record<GroupEndpoint>({ url: text(), name: optionalText });
export const endpoints = listOf(endpoint);

export const urlGroup = record<UrlGroup>({
  name: text(),
  endpoints,
  defaults: headerList,
  createdAtMs: whole,
  updatedAtMs: whole,
});

export const queueFields = {
  name: text(),
  parallelism: whole,
  isPaused: flag,
  createdAtMs: whole,
  updatedAtMs: whole,
};

const scheduleDestination = union<ScheduleDestination, 'kind'>('kind', {
  url: [1, fields({ url: text() })],
  group: [2, fields({ name: text() })],
});

export const outcomes = mapOf(messageId, oneOf<ScheduleOutcome>('IN_PROGRESS', 'SUCCESS', 'FAIL'));

/** A schedule without its body and what its ticks came to. */
export const scheduleFields = {
  id: scheduleId,
  cron: text(),
  destination: scheduleDestination,
  settings,
  ownHeaders: headerList,
  queueName: optionalText,
  callerIp: text(),
  isAlias: flag,
  isPaused: flag,
  createdAtMs: whole,
  nextTickAtMs: whole,
};

/** @param filter of the entries that a page is made of */
export function dlqSelectorBy<Filter extends object>(filter: Shape<Filter>): Shape<DlqSelectorBy<Filter>> {
  const order = oneOf('earliestFirst', 'latestFirst');
  const shape = union<DlqSelectorBy<object>, 'kind'>('kind', {
    ids: [1, fields({ dlqIds: listOf(dlqId) })],
    filter: [2, fields({ filter: filter as Shape<object>, count: whole, after: optional(dlqId), order })],
  });
  return shape as Shape<DlqSelectorBy<Filter>>;
}
