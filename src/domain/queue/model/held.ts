/**
 * The holdings of an account and their bounds. They are derived from the state alone, so they are equal live, after a
 * replay and from a snapshot. `held-refusal.ts` judges them.
 *
 *  HE1 messages count until they end, and so do DLQ entries and steps that wait for an event. A delivered message no
 *      longer counts, though it stays readable for a while: otherwise a full account without events would stay full
 *  HE2 bytes are those of bodies (each once) and of the URLs, headers and settings of each message: about the stored
 *      size. Schedules and groups count with theirs
 *  HE3 memory is that of the state without bodies. The constants below were measured with `node --expose-gc` over
 *      200,000 of each kind and are rounded up
 */
import type { Application, ApplicationEndpoint, EventType } from './application-records.js';
import type { DeliverySettings, Envelope, HeaderList, LastResponse, Redaction, Schedule, UrlGroup } from './records.js';

export interface AccountUsage {
  readonly messages: number;
  readonly bytes: number;
  readonly memoryBytes: number;
}

/** The maximum of each. */
export type HeldBounds = AccountUsage;

/** The present bounds of one account. */
export interface QueueBounds {
  readonly ofAccount: HeldBounds;
  /** Wider bounds: HR2 (a run in progress continues while new runs are refused). */
  readonly ofRuns: HeldBounds;
}

/** A message with its id and its place in the dispatcher. */
export const MESSAGE_MEMORY_BYTES = 264;
/**
 * A delayed message takes 96 bytes. It is counted higher because all may come due together, and the count should then
 * not jump.
 */
export const DELAYED_MEMORY_BYTES = MESSAGE_MEMORY_BYTES / 2;
/** An unshared envelope: the object, its key, its lane. Its texts are added twice. */
const ENVELOPE_MEMORY_BYTES = 640;
const CALLBACK_MEMORY_BYTES = 320;
/** A header, or another text in a list. */
const TEXT_MEMORY_BYTES = 100;
/** The flow-control key of an envelope. */
const FLOW_MEMORY_BYTES = 320;
/** In addition to the memory of the message. */
export const DLQ_MEMORY_BYTES = 230;
export const DEDUPLICATION_MEMORY_BYTES = 170;
export const ACCEPTED_ID_MEMORY_BYTES = 11;
/** Without their texts. */
const SCHEDULE_MEMORY_BYTES = 1000;
const GROUP_MEMORY_BYTES = 300;
/** An application, an endpoint of one, or an event type: the object, its lists, its places in maps. */
const APPLICATION_MEMORY_BYTES = 1000;
/** A pair of name and value, or another text in a list. */
const TEXT_BYTES = 4;
/** The stored bytes of an envelope's fields that are not texts. */
const ENVELOPE_BYTES = 32;
const NO_NAMES: readonly string[] = [];

/** The fields of an envelope that vary in length. */
export type EnvelopeTexts = Pick<Envelope, 'url' | 'settings'> &
  Partial<Pick<Envelope, 'queueName' | 'topicName' | 'endpointName' | 'callerIp' | 'webhook'>>;

/** HE2 (bytes are about the stored size). */
export function envelopeBytes(envelope: EnvelopeTexts): number {
  const { url, settings, queueName, topicName, endpointName, callerIp, webhook } = envelope;
  const names = lengthOf(queueName) + lengthOf(topicName) + lengthOf(endpointName) + lengthOf(callerIp);
  const mark = webhook === undefined ? 0 : webhook.id.length + webhook.eventType.length;
  return ENVELOPE_BYTES + url.length + names + mark + settingsBytes(settings);
}

function settingsBytes(settings: DeliverySettings): number {
  const { header, labels, retryDelay, flowControl, callback, failureCallback, redact } = settings;
  let bytes = headerBytes(header) + lengthOf(retryDelay) + lengthOf(flowControl?.key);
  for (const label of labels) bytes += label.length + TEXT_BYTES;
  for (const name of hiddenNames(redact)) bytes += name.length + TEXT_BYTES;
  for (const one of [callback, failureCallback]) {
    if (one !== undefined) bytes += ENVELOPE_BYTES + one.url.length + settingsBytes(one.settings);
  }
  return bytes;
}

function hiddenNames(redact: Redaction | undefined): readonly string[] {
  if (redact?.response === undefined) return redact?.headers ?? NO_NAMES;
  return [...redact.headers, ...redact.response.headers];
}

function headerBytes(header: HeaderList): number {
  let bytes = 0;
  for (const [name, value] of header) bytes += name.length + value.length + TEXT_BYTES;
  return bytes;
}

/** Without the body of the answer. */
export function answerBytes({ header, error }: LastResponse): number {
  return headerBytes(header) + error.length;
}

export function answerMemoryBytes(answer: LastResponse): number {
  return answer.header.length * TEXT_MEMORY_BYTES + 2 * answerBytes(answer);
}

/**
 * HE3 (memory is that of the state without bodies).
 * @param bytes the envelope's `envelopeBytes`
 */
export function envelopeMemoryBytes({ settings }: Pick<Envelope, 'settings'>, bytes: number): number {
  return ENVELOPE_MEMORY_BYTES + settingsMemoryBytes(settings) + 2 * bytes;
}

function settingsMemoryBytes({
  header,
  labels,
  flowControl,
  callback,
  failureCallback,
  redact,
}: DeliverySettings): number {
  const texts = header.length + labels.length + hiddenNames(redact).length;
  let bytes = texts * TEXT_MEMORY_BYTES + (flowControl === undefined ? 0 : FLOW_MEMORY_BYTES);
  for (const one of [callback, failureCallback]) {
    if (one !== undefined) bytes += CALLBACK_MEMORY_BYTES + settingsMemoryBytes(one.settings);
  }
  return bytes;
}

export type ScheduleTexts = Pick<Schedule, 'id' | 'cron' | 'settings' | 'ownHeaders'>;

/** Without its body. */
export function scheduleBytes({ id, cron, settings, ownHeaders }: ScheduleTexts): number {
  return id.length + cron.length + settingsBytes(settings) + headerBytes(ownHeaders);
}

export function scheduleMemoryBytes(schedule: ScheduleTexts): number {
  const ofTexts = settingsMemoryBytes(schedule.settings) + schedule.ownHeaders.length * TEXT_MEMORY_BYTES;
  return SCHEDULE_MEMORY_BYTES + ofTexts + 2 * scheduleBytes(schedule);
}

export type GroupTexts = Pick<UrlGroup, 'name' | 'endpoints' | 'defaults'>;

export function groupBytes({ name, endpoints, defaults }: GroupTexts): number {
  let bytes = name.length + headerBytes(defaults);
  for (const endpoint of endpoints) bytes += endpoint.url.length + lengthOf(endpoint.name) + TEXT_BYTES;
  return bytes;
}

export function groupMemoryBytes(group: GroupTexts): number {
  const texts = group.endpoints.length + group.defaults.length;
  return GROUP_MEMORY_BYTES + texts * TEXT_MEMORY_BYTES + groupBytes(group);
}

/** An id of 30 characters, and the end. */
const REVOKED_LINK_BYTES = 50;

export function applicationBytes({ id, uid, name, metadata, notifyUrl, portalLinks, email }: Application): number {
  const told = lengthOf(notifyUrl) + lengthOf(email);
  const texts = id.length + lengthOf(uid) + name.length + headerBytes(metadata) + told;
  return texts + (portalLinks?.revoked.length ?? 0) * REVOKED_LINK_BYTES + ENVELOPE_BYTES;
}

export function applicationEndpointBytes(endpoint: ApplicationEndpoint): number {
  const { id, application, url, description, eventTypes, filter, header, secrets } = endpoint;
  let bytes = id.length + application.length + url.length + description.length + filter.length + headerBytes(header);
  for (const type of eventTypes) bytes += type.length + TEXT_BYTES;
  for (const { sealed } of secrets) bytes += sealed.length + ENVELOPE_BYTES;
  return bytes + ENVELOPE_BYTES;
}

export function eventTypeBytes({ name, description, schema, examples }: EventType): number {
  return name.length + description.length + schema.length + examples.length + ENVELOPE_BYTES;
}

/** @param count applications, endpoints and event types. @param bytes their texts, which memory holds twice at most */
export function applicationMemoryBytes(count: number, bytes: number): number {
  return count * APPLICATION_MEMORY_BYTES + 2 * bytes;
}

function lengthOf(text: string | undefined): number {
  return text === undefined ? 0 : text.length;
}
