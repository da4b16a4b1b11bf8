/**
 * Envelopes as the read model stores them. The file is disposable, so this form has no history: a change of it goes
 * with a new `SCHEMA_VERSION`. Equal envelopes have equal bytes.
 */
import { decode, encode } from '@msgpack/msgpack';
import type { CallbackSetting, DeliverySettings, Envelope } from '../../domain/queue/index.js';

type Raw = readonly unknown[];

export function encodeEnvelope(envelope: Envelope): Uint8Array {
  const { url, settings, queueName, scheduleId, topicName, endpointName, callerIp, isAlias, callbackOf } = envelope;
  const raw = [
    url,
    rawSettings(settings),
    queueName,
    scheduleId,
    topicName,
    endpointName,
    callerIp,
    isAlias,
    callbackOf,
  ];
  return encode(raw);
}

export function decodeEnvelope(bytes: Uint8Array): Envelope {
  const raw = decode(bytes) as Raw;
  return {
    url: raw[0] as string,
    settings: readSettings(raw[1] as Raw),
    queueName: maybe(raw[2]),
    scheduleId: maybe(raw[3]),
    topicName: maybe(raw[4]),
    endpointName: maybe(raw[5]),
    callerIp: raw[6] as string,
    isAlias: raw[7] as boolean,
    callbackOf: maybe(raw[8]),
  };
}

function rawSettings(settings: DeliverySettings): Raw {
  const { flowControl: flow, redact } = settings;
  return [
    settings.method,
    settings.header,
    settings.maxRetries,
    settings.retryDelay,
    settings.timeoutSeconds,
    settings.delaySeconds,
    rawCallback(settings.callback),
    rawCallback(settings.failureCallback),
    flow === undefined ? undefined : [flow.key, flow.parallelism, flow.rate, flow.periodSeconds],
    settings.labels,
    redact === undefined ? undefined : [redact.body, redact.allHeaders, redact.headers],
  ];
}

function readSettings(raw: Raw): DeliverySettings {
  const flow = maybe<Raw>(raw[8]);
  const redact = maybe<Raw>(raw[10]);
  return {
    method: raw[0] as DeliverySettings['method'],
    header: raw[1] as DeliverySettings['header'],
    maxRetries: raw[2] as number,
    retryDelay: maybe(raw[3]),
    timeoutSeconds: maybe(raw[4]),
    delaySeconds: raw[5] as number,
    callback: readCallback(maybe<Raw>(raw[6])),
    failureCallback: readCallback(maybe<Raw>(raw[7])),
    flowControl: flow && {
      key: flow[0] as string,
      parallelism: maybe(flow[1]),
      rate: maybe(flow[2]),
      periodSeconds: flow[3] as number,
    },
    labels: raw[9] as readonly string[],
    redact: redact && {
      body: redact[0] as boolean,
      allHeaders: redact[1] as boolean,
      headers: redact[2] as readonly string[],
    },
  };
}

function rawCallback(callback: CallbackSetting | undefined): Raw | undefined {
  return callback && [callback.url, rawSettings(callback.settings)];
}

function readCallback(raw: Raw | undefined): CallbackSetting | undefined {
  return raw && { url: raw[0] as string, settings: readSettings(raw[1] as Raw) };
}

function maybe<T>(value: unknown): T | undefined {
  return (value ?? undefined) as T | undefined;
}
