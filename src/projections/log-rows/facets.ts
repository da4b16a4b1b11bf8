/**
 * Search values of messages, all derived from the envelope. Messages with equal values share one profile, and tables
 * are indexed by profile, so a filter costs as much as it finds, independent of the number of messages.
 */
import { type Envelope, hostsOf, type MessageFilter, wantedHosts } from '../../domain/queue/index.js';
import { readUrl } from '../../kernel/index.js';

/** Stored by index: the order never changes. */
export const FACETS = [
  'url',
  'host',
  'path',
  'topicName',
  'queueName',
  'scheduleId',
  'label',
  'flowControlKey',
  'callerIp',
  'priority',
] as const;
type FacetName = (typeof FACETS)[number];

/** The values of each facet in the order of `FACETS`: none, one, or several for labels. */
export type Profile = readonly (readonly string[])[];

export function profileOf(envelope: Envelope): Profile {
  const { url, settings, topicName, queueName, scheduleId, callerIp } = envelope;
  const { host, path } = placeOf(url);
  const values: Readonly<Record<FacetName, readonly string[]>> = {
    url: [url],
    host: listOf(host),
    path: listOf(path),
    topicName: listOf(topicName),
    queueName: listOf(queueName),
    scheduleId: listOf(scheduleId),
    label: [...new Set(settings.labels)].sort(),
    flowControlKey: listOf(settings.flowControl?.key),
    callerIp: listOf(callerIp === '' ? undefined : callerIp),
    priority: [settings.priority ?? 'normal'],
  };
  return FACETS.map((name) => values[name]);
}

const URL_FACET = FACETS.indexOf('url');
const HOST_FACET = FACETS.indexOf('host');
const PORT = /:\d+$/;

export interface Wanted {
  readonly facet: number;
  readonly values: ReadonlySet<string>;
}

/** A range of stored values of a facet, both ends inclusive. */
export type ValueRange = readonly [first: string, last: string];

/** The parts of a filter that concern profiles; all must match. */
export function wantedOf(filter: MessageFilter): Wanted[] {
  return FACETS.flatMap((name, facet) => {
    const values = filter[name];
    if (values === undefined || values.length === 0) return [];
    return [{ facet, values: name === 'host' ? wantedHosts(values) : new Set(values) }];
  });
}

export function isWanted(profile: Profile, wanted: readonly Wanted[]): boolean {
  return wanted.every(({ facet, values }) => {
    // A host is stored as in the URL, and searched with or without its port: the URL gives both spellings.
    const own = facet === HOST_FACET ? profile[URL_FACET]?.flatMap(hostsOf) : profile[facet];
    return own?.some((value) => values.has(value));
  });
}

/** Ranges of profiles that may match a value; `isWanted` decides. */
export function rangesOf(facet: number, value: string): readonly ValueRange[] {
  if (facet !== HOST_FACET) return [[value, value]];
  const port = PORT.exec(value)?.[0];
  // A value without a port matches any port; a value with a port also matches a URL that leaves it out as the
  // default.
  const other: ValueRange =
    port === undefined ? [`${value}:`, `${value}:~`] : [value.slice(0, -port.length), value.slice(0, -port.length)];
  return [[value, value], other];
}

function placeOf(url: string): { host?: string; path?: string } {
  const read = readUrl(url);
  return read === undefined ? {} : { host: read.host, path: read.pathname };
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
