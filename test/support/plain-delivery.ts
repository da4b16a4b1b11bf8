/** A delivery with default settings, for tests that do not depend on them. */
import type { DeliverySettings, Envelope } from '../../src/domain/queue/index.js';

export const PLAIN_DELIVERY: DeliverySettings = {
  method: 'POST',
  header: [],
  maxRetries: 3,
  retryDelay: undefined,
  timeoutSeconds: undefined,
  delaySeconds: 0,
  callback: undefined,
  failureCallback: undefined,
  flowControl: undefined,
  labels: [],
  redact: undefined,
};

export const PLAIN_ENVELOPE: Envelope = {
  url: 'https://example.com/hook',
  settings: PLAIN_DELIVERY,
  queueName: undefined,
  scheduleId: undefined,
  topicName: undefined,
  endpointName: undefined,
  callerIp: '192.0.2.1',
  isAlias: false,
  callbackOf: undefined,
};
