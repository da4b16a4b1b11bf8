/**
 * One object for all messages that were published alike: a million of them share one envelope. Equal is what has
 * equal fields; the count of holders says when the last one has gone. What dispatch needs of an envelope is worked
 * out once, here, and so is what it takes (HE1 of held.ts: delivered messages have it, and do not count).
 */
import { envelopeBytes, envelopeMemoryBytes } from '../accounts/held.js';
import type { DeliverySettings, Envelope, HeaderList, WorkflowMark } from '../records.js';

export interface SharedEnvelope {
  readonly key: string;
  readonly envelope: Envelope;
  /** Scheme, host and port of the destination: what can be sick as a whole. */
  readonly origin: string;
  /** Alike for messages that wait for the same: flow-control key and origin. */
  readonly lane: string;
  /** About, as it is stored. */
  readonly bytes: number;
  holders: number;
  /** It counts the holders that count. */
  counting: number;
}

export class Envelopes {
  readonly #byKey = new Map<string, SharedEnvelope>();
  /** Whoever decodes or publishes with one and the same object pays for its key once. */
  readonly #byObject = new WeakMap<Envelope, SharedEnvelope>();
  /** It has the latest of each destination: one publish is mostly like the one before. */
  readonly #latest = new Map<string, SharedEnvelope>();

  #bytes = 0;
  #memoryBytes = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** It counts once for each holder that counts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** It counts the envelopes that a holder counts for, each once. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** The object that messages like this one have in common already, else this one; nobody holds more by it. */
  commonOf(envelope: Envelope): Envelope {
    // A run's is deep, and looked for by its key, which it is held by soon after.
    if (envelope.workflow !== undefined) return this.#byKey.get(keyOf(envelope))?.envelope ?? envelope;
    const latest = this.#latest.get(envelope.url);
    return latest !== undefined && isPlainlyAlike(latest.envelope, envelope) ? latest.envelope : envelope;
  }

  hold(envelope: Envelope): SharedEnvelope {
    const shared = this.#shared(envelope);
    shared.holders += 1;
    shared.counting += 1;
    this.#bytes += shared.bytes;
    if (shared.counting === 1) this.#memoryBytes += envelopeMemoryBytes(shared.envelope, shared.bytes);
    return shared;
  }

  #shared(envelope: Envelope): SharedEnvelope {
    const known = this.#byObject.get(envelope);
    if (known !== undefined && known.holders > 0) return known;
    const key = keyOf(envelope);
    let shared = this.#byKey.get(key);
    if (shared === undefined) {
      const origin = originOf(envelope.url);
      const lane = `${envelope.settings.flowControl?.key ?? ''}\n${origin}`;
      shared = { key, envelope, origin, lane, bytes: envelopeBytes(envelope), holders: 0, counting: 0 };
      this.#byKey.set(key, shared);
    }
    this.#byObject.set(envelope, shared);
    this.#latest.set(envelope.url, shared);
    return shared;
  }

  /** @param envelope the object of a `SharedEnvelope` that is held */
  releaseOf(envelope: Envelope): void {
    const shared = this.#byObject.get(envelope);
    if (shared !== undefined) this.release(shared);
  }

  release(shared: SharedEnvelope): void {
    this.uncount(shared);
    this.drop(shared);
  }

  /** One of its holders keeps it, and counts no longer. */
  uncount(shared: SharedEnvelope): void {
    shared.counting -= 1;
    this.#bytes -= shared.bytes;
    if (shared.counting === 0) this.#memoryBytes -= envelopeMemoryBytes(shared.envelope, shared.bytes);
  }

  /** It is dropped by a holder that did not count any more. */
  drop(shared: SharedEnvelope): void {
    shared.holders -= 1;
    if (shared.holders > 0) return;
    this.#byKey.delete(shared.key);
    const { url } = shared.envelope;
    if (this.#latest.get(url) === shared) this.#latest.delete(url);
  }
}

/** Fields in a fixed order, whatever order an object has them in. */
function keyOf(envelope: Envelope): string {
  return JSON.stringify([
    envelope.url,
    envelope.queueName,
    envelope.scheduleId,
    envelope.topicName,
    envelope.endpointName,
    envelope.callerIp,
    envelope.isAlias,
    envelope.callbackOf,
    fieldsOf(envelope.settings),
    envelope.workflow === undefined ? undefined : markKeyOf(envelope.workflow),
  ]);
}

function markKeyOf(mark: WorkflowMark): string {
  const { detectsTrigger, needsRecentClient, canFetch, isConfiguredByTrigger } = mark;
  return [detectsTrigger, needsRecentClient, canFetch, isConfiguredByTrigger].map(Number).join('');
}

type Field = string | number | boolean | undefined | HeaderList | readonly string[] | readonly Field[];

function fieldsOf(settings: DeliverySettings): readonly Field[] {
  const { callback, failureCallback, flowControl, redact } = settings;
  return [
    settings.method,
    settings.header,
    settings.maxRetries,
    settings.retryDelay,
    settings.timeoutSeconds,
    settings.delaySeconds,
    callback && [callback.url, fieldsOf(callback.settings)],
    failureCallback && [failureCallback.url, fieldsOf(failureCallback.settings)],
    flowControl && [flowControl.key, flowControl.parallelism, flowControl.rate, flowControl.periodSeconds],
    settings.labels,
    redact && [redact.body, redact.allHeaders, redact.headers],
  ];
}

/** Equal for sure: those that are configured further are told apart by their keys. */
function isPlainlyAlike(a: Envelope, b: Envelope): boolean {
  return (
    a.queueName === b.queueName &&
    a.callerIp === b.callerIp &&
    a.isAlias === b.isAlias &&
    a.topicName === b.topicName &&
    a.endpointName === b.endpointName &&
    a.scheduleId === b.scheduleId &&
    a.callbackOf === undefined &&
    b.callbackOf === undefined &&
    a.workflow === undefined &&
    isPlainlySet(a.settings, b.settings)
  );
}

function isPlainlySet(a: DeliverySettings, b: DeliverySettings): boolean {
  return (
    a.method === b.method &&
    a.maxRetries === b.maxRetries &&
    a.retryDelay === b.retryDelay &&
    a.timeoutSeconds === b.timeoutSeconds &&
    a.delaySeconds === b.delaySeconds &&
    a.callback === b.callback &&
    a.failureCallback === b.failureCallback &&
    a.redact === b.redact &&
    a.labels.length === 0 &&
    b.labels.length === 0 &&
    a.flowControl?.key === b.flowControl?.key &&
    a.flowControl?.parallelism === b.flowControl?.parallelism &&
    a.flowControl?.rate === b.flowControl?.rate &&
    a.flowControl?.periodSeconds === b.flowControl?.periodSeconds &&
    isSameHeader(a.header, b.header)
  );
}

function isSameHeader(a: HeaderList, b: HeaderList): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) {
    const [name, value] = a[at] as HeaderList[number];
    const [otherName, otherValue] = b[at] as HeaderList[number];
    if (name !== otherName || value !== otherValue) return false;
  }
  return true;
}

/** It is what, in `https://host:port/path?query`, stands before the path, in lower case. */
function originOf(url: string): string {
  const from = url.indexOf('//') + 2;
  let end = from;
  while (end < url.length && !'/?#'.includes(url[end] as string)) end += 1;
  return url.slice(0, end).toLowerCase();
}
