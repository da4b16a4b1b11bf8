/** Which messages, or DLQ entries, a filter means: values of one criterion are or-ed, criteria are and-ed. */
import { type MessageId, readUrl } from '../../../kernel/index.js';
import type { MessageFilter } from '../commands.js';
import type { Envelope } from '../records.js';

/** What a filter looks at. */
export interface FilteredMessage {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** It is the instant of creation; of the failure for a DLQ entry. */
  readonly atMs: number;
  /** It is the status of a DLQ entry; a message without one matches no filter that asks for it. */
  readonly responseStatus: number | undefined;
}

interface UrlParts {
  readonly hosts: readonly string[];
  readonly path: string | undefined;
}

/** Envelopes are shared by many messages: their URL is taken apart once. */
const partsByEnvelope = new WeakMap<Envelope, UrlParts>();
const SCHEME_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const NO_HOST: readonly string[] = [];

/** Prepared once for going over many; each look at a message is then a few set look-ups. */
export function messageMatcher(filter: MessageFilter): (message: FilteredMessage) => boolean {
  const tests: ((message: FilteredMessage) => boolean)[] = [];
  const oneOf = (values: readonly string[] | undefined, of: (message: FilteredMessage) => string | undefined) => {
    if (values === undefined) return;
    const wanted = new Set(values);
    tests.push((message) => {
      const value = of(message);
      return value !== undefined && wanted.has(value);
    });
  };
  oneOf(filter.messageId, (message) => message.id);
  oneOf(filter.url, (message) => message.envelope.url);
  oneOf(filter.topicName, (message) => message.envelope.topicName);
  oneOf(filter.queueName, (message) => message.envelope.queueName);
  oneOf(filter.scheduleId, (message) => message.envelope.scheduleId);
  oneOf(filter.flowControlKey, (message) => message.envelope.settings.flowControl?.key);
  oneOf(filter.callerIp, (message) => message.envelope.callerIp);
  oneOf(filter.path, (message) => urlPartsOf(message.envelope).path);
  if (filter.host !== undefined) {
    const wanted = wantedHosts(filter.host);
    tests.push(({ envelope }) => urlPartsOf(envelope).hosts.some((host) => wanted.has(host)));
  }
  if (filter.label !== undefined) {
    const wanted = new Set(filter.label);
    tests.push((message) => message.envelope.settings.labels.some((label) => wanted.has(label)));
  }
  if (filter.responseStatus !== undefined) {
    const wanted = new Set(filter.responseStatus);
    tests.push((message) => message.responseStatus !== undefined && wanted.has(message.responseStatus));
  }
  const { fromMs, toMs } = filter;
  if (fromMs !== undefined) tests.push((message) => message.atMs >= fromMs);
  if (toMs !== undefined) tests.push((message) => message.atMs <= toMs);
  return (message) => tests.every((test) => test(message));
}

/** Names of a destination's host by which filters find it: without its port, and with it, also where the URL has none. */
export function hostsOf(url: string): readonly string[] {
  const read = readUrl(url);
  if (read === undefined) return NO_HOST;
  const { hostname, port, protocol } = read;
  return [hostname, `${hostname}:${port === '' ? SCHEME_PORTS[protocol] : port}`];
}

/** They are spelled as by `hostsOf`. */
export function wantedHosts(values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((host) => host.toLowerCase()));
}

/** This judges one message; `messageMatcher` serves for many. */
export function matches(filter: MessageFilter, message: FilteredMessage): boolean {
  return messageMatcher(filter)(message);
}

function urlPartsOf(envelope: Envelope): UrlParts {
  let parts = partsByEnvelope.get(envelope);
  if (parts === undefined) {
    parts = partsOf(envelope.url);
    partsByEnvelope.set(envelope, parts);
  }
  return parts;
}

function partsOf(url: string): UrlParts {
  return { hosts: hostsOf(url), path: readUrl(url)?.pathname };
}
