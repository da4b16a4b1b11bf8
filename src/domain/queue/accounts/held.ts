/**
 * What an account holds, and what of it is too much. All of it is derived from the state, so that it is the same live,
 * after a replay and from a snapshot. Nothing here judges: `held-refusal.ts` does.
 *
 *  HE1 counted is what waits: messages until they end, entries of the DLQ, steps that wait for an event. A delivered
 *      message counts no longer, though it is readable for a while: else an account that is full and silent would stay so
 *  HE2 bytes are those of bodies, each once, and of URLs, headers and settings, with each message: about what is stored.
 *      Schedules and groups count with theirs
 *  HE3 memory is what the state takes, bodies not: `node --expose-gc` has shown the numbers below, by
 *      200,000 of each kind; they are a little high rather than low
 */
import { BodyReferences } from '../messages/body-references.js';
import type { DeliverySettings, Envelope, HeaderList, LastResponse, Schedule, UrlGroup } from '../records.js';

export interface Held {
  readonly messages: number;
  readonly bytes: number;
  readonly memoryBytes: number;
}

/** How much of each there may be. */
export type HeldBounds = Held;

/** They are the bounds of one account, as they are now. */
export interface QueueBounds {
  readonly ofAccount: HeldBounds;
  /** Somewhat wider: HR2 of held-refusal.ts. */
  readonly ofRuns: HeldBounds;
}

/** A message with its id and its place in the dispatcher. */
export const MESSAGE_MEMORY_BYTES = 264;
/** One that rests takes 96 bytes; but all may be due at once, and what is counted should not grow much by that. */
export const RESTING_MEMORY_BYTES = MESSAGE_MEMORY_BYTES / 2;
/** An envelope that no other message shares: the object, its key, its lane. What its texts take comes on top, twice. */
const ENVELOPE_MEMORY_BYTES = 640;
const CALLBACK_MEMORY_BYTES = 320;
/** A header, or another text in a list. */
const TEXT_MEMORY_BYTES = 100;
/** What each key takes of flow control. */
const FLOW_MEMORY_BYTES = 320;
/** Beside the message that it was. */
export const DLQ_MEMORY_BYTES = 230;
export const DEDUPLICATION_MEMORY_BYTES = 170;
export const ACCEPTED_ID_MEMORY_BYTES = 11;
/** Without their texts. */
const SCHEDULE_MEMORY_BYTES = 1000;
const GROUP_MEMORY_BYTES = 300;
/** A pair of name and value, or another text in a list. */
const TEXT_BYTES = 4;
/** The fields of an envelope that are no texts, as they are stored. */
const ENVELOPE_BYTES = 32;

/** What of an envelope has a length. */
export type EnvelopeTexts = Pick<Envelope, 'url' | 'settings'> &
  Partial<Pick<Envelope, 'queueName' | 'topicName' | 'endpointName' | 'callerIp'>>;

/** HE2 */
export function envelopeBytes(envelope: EnvelopeTexts): number {
  const { url, settings, queueName, topicName, endpointName, callerIp } = envelope;
  const names = lengthOf(queueName) + lengthOf(topicName) + lengthOf(endpointName) + lengthOf(callerIp);
  return ENVELOPE_BYTES + url.length + names + settingsBytes(settings);
}

function settingsBytes(settings: DeliverySettings): number {
  const { header, labels, retryDelay, flowControl, callback, failureCallback, redact } = settings;
  let bytes = headerBytes(header) + lengthOf(retryDelay) + lengthOf(flowControl?.key);
  for (const label of labels) bytes += label.length + TEXT_BYTES;
  for (const name of redact?.headers ?? []) bytes += name.length + TEXT_BYTES;
  for (const one of [callback, failureCallback]) {
    if (one !== undefined) bytes += ENVELOPE_BYTES + one.url.length + settingsBytes(one.settings);
  }
  return bytes;
}

function headerBytes(header: HeaderList): number {
  let bytes = 0;
  for (const [name, value] of header) bytes += name.length + value.length + TEXT_BYTES;
  return bytes;
}

/** Without its body. */
export function answerBytes({ header, error }: LastResponse): number {
  return headerBytes(header) + error.length;
}

export function answerMemoryBytes(answer: LastResponse): number {
  return answer.header.length * TEXT_MEMORY_BYTES + 2 * answerBytes(answer);
}

/** HE3. @param bytes of it, by `envelopeBytes` */
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
  const texts = header.length + labels.length + (redact?.headers.length ?? 0);
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

function lengthOf(text: string | undefined): number {
  return text === undefined ? 0 : text.length;
}

/** Bodies that something holds, each once (HE2). */
export class HeldBodies {
  readonly #references = new BodyReferences();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(number: number, bytes: number): void {
    if (this.#references.add(number)) this.#bytes += bytes;
  }

  remove(number: number, bytes: number): void {
    if (this.#references.remove(number)) this.#bytes -= bytes;
  }
}
