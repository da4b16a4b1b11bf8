/**
 * The stored form of envelopes in the read model. The file is disposable, so a change needs only a new
 * `MESSAGE_LOG_VERSION`. Equal envelopes have equal bytes.
 */
import {
  type CallbackSetting,
  type DeliverySettings,
  type Envelope,
  MESSAGES_WHEN_STOPPED,
  PRIORITIES,
} from '../../domain/queue/index.js';
import type { MessageId, ScheduleId } from '../../kernel/index.js';
import {
  bothWays,
  flag,
  integer,
  later,
  listOf,
  looseText,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  trailing,
  tuple,
} from '../../kernel/schema/index.js';

const texts = listOf(looseText());
const optionalText = optional(looseText());

const callback: Shape<CallbackSetting> = record({ url: looseText(), settings: later(() => settings) });

const hiddenParts = { body: flag, allHeaders: flag, headers: texts };

const settings: Shape<DeliverySettings> = record({
  method: text<DeliverySettings['method']>(),
  header: listOf(tuple<[name: string, value: string]>(looseText(), looseText())),
  maxRetries: integer,
  retryDelay: optionalText,
  timeoutSeconds: optional(integer),
  delaySeconds: integer,
  callback: optional(callback),
  failureCallback: optional(callback),
  flowControl: optional(
    record({
      key: looseText(),
      parallelism: optional(integer),
      rate: optional(integer),
      periodSeconds: integer,
    }),
  ),
  labels: texts,
  redact: optional(record({ ...hiddenParts, response: trailing(record(hiddenParts)) })),
  /** Files of earlier releases do not have it. */
  priority: trailing(oneOf(...PRIORITIES)),
  whenStopped: trailing(oneOf(...MESSAGES_WHEN_STOPPED)),
});

const envelope: Shape<Envelope> = record({
  url: looseText(),
  settings,
  queueName: optionalText,
  scheduleId: optional(looseText<ScheduleId>()),
  topicName: optionalText,
  endpointName: optionalText,
  callerIp: looseText(),
  isAlias: flag,
  callbackOf: optional(looseText<MessageId>()),
  /** Of a run's trigger and messages. Files of earlier releases do not have it. */
  workflow: trailing(
    record({ detectsTrigger: flag, needsRecentClient: flag, canFetch: flag, isConfiguredByTrigger: flag }),
  ),
  /** Of a webhook. Files of earlier releases do not have it. */
  webhook: trailing(record({ id: looseText(), eventType: looseText() })),
});

export const [encodeEnvelope, decodeEnvelope] = bothWays(envelope, 'an envelope of the message log');
