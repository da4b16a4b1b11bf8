/**
 * One object for all messages with equal settings: a million of them share one envelope, compared field by field. A
 * count of holders tells when the last one has gone. Values that dispatch needs of an envelope are computed once
 * here, and so is its size for HE1 (messages count until they end): a delivered message holds its envelope without
 * counting.
 */
import { envelopeBytes, envelopeMemoryBytes } from '../held.js';
import type { DeliverySettings, Envelope, HeaderList, HiddenParts, WorkflowMark } from '../records.js';

export interface SharedEnvelope {
  readonly key: string;
  readonly envelope: Envelope;
  /** Scheme, host and port of the destination: the unit that fails as a whole. */
  readonly origin: string;
  /** Flow-control key and origin: equal for messages that wait for the same resources. */
  readonly lane: string;
  /** About the stored size. */
  readonly bytes: number;
  holders: number;
  /** Holders that count for the bounds. */
  counting: number;
}

export class Envelopes {
  readonly #byKey = new Map<string, SharedEnvelope>();
  /** Caches the result per object, so that the key of a reused object is computed once. */
  readonly #byObject = new WeakMap<Envelope, SharedEnvelope>();
  /** The latest envelope of each destination: most publishes repeat the previous one. */
  readonly #latest = new Map<string, SharedEnvelope>();

  #bytes = 0;
  #memoryBytes = 0;

  get size(): number {
    return this.#byKey.size;
  }

  /** Bytes of the envelopes, once for each counting holder. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Memory of the envelopes with a counting holder, each once. */
  get memoryBytes(): number {
    return this.#memoryBytes;
  }

  /** The shared object equal to this envelope, else the envelope itself; does not add a holder. */
  commonOf(envelope: Envelope): Envelope {
    // The envelope of a run is nested, so it is found by its key, which `hold` needs soon after anyway.
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

  /** @param envelope the object of a held `SharedEnvelope` */
  releaseOf(envelope: Envelope): void {
    const shared = this.#byObject.get(envelope);
    if (shared !== undefined) this.release(shared);
  }

  release(shared: SharedEnvelope): void {
    this.uncount(shared);
    this.drop(shared);
  }

  /** A holder keeps the envelope but no longer counts. */
  uncount(shared: SharedEnvelope): void {
    shared.counting -= 1;
    this.#bytes -= shared.bytes;
    if (shared.counting === 0) this.#memoryBytes -= envelopeMemoryBytes(shared.envelope, shared.bytes);
  }

  /** Removes a holder that no longer counted. */
  drop(shared: SharedEnvelope): void {
    shared.holders -= 1;
    if (shared.holders > 0) return;
    this.#byKey.delete(shared.key);
    const { url } = shared.envelope;
    if (this.#latest.get(url) === shared) this.#latest.delete(url);
  }
}

/** Fields in a fixed order, independent of the object's. */
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
    envelope.webhook && [envelope.webhook.id, envelope.webhook.eventType],
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
    redact && fieldsOfHidden(redact),
    redact?.response && fieldsOfHidden(redact.response),
    settings.priority,
    settings.whenStopped,
  ];
}

function fieldsOfHidden({ body, allHeaders, headers }: HiddenParts): Field {
  return [body, allHeaders, headers];
}

/** A cheap test without false positives; envelopes with further settings are compared by their keys. */
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
    a.webhook === undefined &&
    b.webhook === undefined &&
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
    a.priority === b.priority &&
    a.whenStopped === b.whenStopped &&
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

/** The part of a URL before its path, in lower case: `https://host:port`. */
function originOf(url: string): string {
  const from = url.indexOf('//') + 2;
  let end = from;
  while (end < url.length && !'/?#'.includes(url[end] as string)) end += 1;
  return url.slice(0, end).toLowerCase();
}
