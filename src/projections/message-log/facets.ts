/**
 * What messages are looked for by: a few values that follow from the envelope. Messages with the same values share one
 * profile, and the tables are indexed by profile: a filter costs what it finds, however many messages there are.
 */
import { type Envelope, hostsOf, type MessageFilter, wantedHosts } from '../../domain/queue/index.js';
import { readUrl } from '../../kernel/index.js';

/** Stored as numbers: their order never changes. */
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
] as const;
type FacetName = (typeof FACETS)[number];

/** It has for each facet, in the order of `FACETS`, its values: none, one, or of labels several. */
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

/** Where stored values of a facet lie: from the first to the last, which may be one and the same. */
export type ValueRange = readonly [first: string, last: string];

/** The parts of a filter that are about profiles; all must hold. */
export function wantedOf(filter: MessageFilter): Wanted[] {
  return FACETS.flatMap((name, facet) => {
    const values = filter[name];
    if (values === undefined || values.length === 0) return [];
    return [{ facet, values: name === 'host' ? wantedHosts(values) : new Set(values) }];
  });
}

export function isWanted(profile: Profile, wanted: readonly Wanted[]): boolean {
  return wanted.every(({ facet, values }) => {
    // A host is stored as its URL has it, and asked for with its port or without: the URL knows all its names.
    const own = facet === HOST_FACET ? profile[URL_FACET]?.flatMap(hostsOf) : profile[facet];
    return own?.some((value) => values.has(value));
  });
}

/** Where profiles lie that may be wanted for a value; whether they are, `isWanted` tells. */
export function rangesOf(facet: number, value: string): readonly ValueRange[] {
  if (facet !== HOST_FACET) return [[value, value]];
  const port = PORT.exec(value)?.[0];
  // The URL matches with any port, or with the one that is named where its URL leaves it out.
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
