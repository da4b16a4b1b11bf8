/** Filters of messages and DLQ entries: values of one criterion are combined with OR, criteria with AND. */
import { type MessageId, readUrl } from '../../../kernel/index.js';
import type { MessageFilter } from '../model/commands.js';
import type { Envelope } from '../model/records.js';

/** The fields that a filter compares. */
export interface FilteredMessage {
  readonly id: MessageId;
  readonly envelope: Envelope;
  /** The creation time; for a DLQ entry the time of failure. */
  readonly atMs: number;
  /** Only DLQ entries have a status; other messages match no filter by status. */
  readonly responseStatus: number | undefined;
}

interface UrlParts {
  readonly hosts: readonly string[];
  readonly path: string | undefined;
}

/** Many messages share an envelope: its URL is parsed once. */
const partsByEnvelope = new WeakMap<Envelope, UrlParts>();
const SCHEME_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
const NO_HOST: readonly string[] = [];

/** Prepares the filter once; each message then costs a few set look-ups. */
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
  oneOf(filter.priority, (message) => message.envelope.settings.priority ?? 'normal');
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

/** The host of a URL as filters may name it: without a port, and with its port or the scheme's default. */
export function hostsOf(url: string): readonly string[] {
  const read = readUrl(url);
  if (read === undefined) return NO_HOST;
  const { hostname, port, protocol } = read;
  return [hostname, `${hostname}:${port === '' ? SCHEME_PORTS[protocol] : port}`];
}

/** In the spelling of `hostsOf`. */
export function wantedHosts(values: readonly string[]): ReadonlySet<string> {
  return new Set(values.map((host) => host.toLowerCase()));
}

/** For one message; `messageMatcher` is cheaper for many. */
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
