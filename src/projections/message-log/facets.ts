/**
 * What messages are looked for by: a few values that follow from the envelope. Messages with the same values share one
 * profile, and the tables are indexed by profile: a filter costs what it finds, however many messages there are.
 */
import type { Envelope, MessageFilter } from '../../domain/queue/index.js';

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
export type FacetName = (typeof FACETS)[number];

/** For each facet, in the order of `FACETS`, its values: none, one, or of labels several. */
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

export interface Wanted {
  readonly facet: number;
  readonly values: ReadonlySet<string>;
}

/** The parts of a filter that are about profiles; all must hold. */
export function wantedOf(filter: MessageFilter): Wanted[] {
  return FACETS.flatMap((name, facet) => {
    const values = filter[name];
    return values === undefined || values.length === 0 ? [] : [{ facet, values: new Set(values) }];
  });
}

export function isWanted(profile: Profile, wanted: readonly Wanted[]): boolean {
  return wanted.every(({ facet, values }) => profile[facet]?.some((value) => values.has(value)));
}

function placeOf(url: string): { host?: string; path?: string } {
  if (!URL.canParse(url)) return {};
  const { host, pathname } = new URL(url);
  return { host, path: pathname };
}

function listOf(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}
