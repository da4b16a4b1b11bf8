/** The record that an installation's layout is kept in. */
import { assert, FIRST_FORMAT_LEVEL, FORMAT_LEVEL, MillraceError, writtenByNewer } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { JetStreamLeaseStore } from './jetstream-lease-store.js';
import type { DeclaredCounts } from './streams.js';
import { Names } from './subjects.js';

export interface ClusterLayout extends DeclaredCounts {
  readonly version: 1;
  /** Random, made by the first initialisation; it is in leases and entries. */
  readonly clusterId: string;
  readonly complete: boolean;
  /** The key that seals the installation's secrets; recorded by the first process. */
  readonly sealKeyId?: string;
  /** The level of stored forms; missing: the first. A program that reads less is refused. */
  readonly format?: number;
  /** When each stream was created, as its server says, by its name without prefix. */
  readonly streams: Readonly<Record<string, string>>;
}

export interface LayoutRecord extends ClusterLayout {
  /** The attempt that is creating streams. */
  readonly attempt: string;
}

export interface VersionedLayout {
  readonly record: LayoutRecord;
  readonly revision: number;
}

export const LAYOUT_KEY = 'cluster';

/** The recorded layout, complete or not; undefined before any initialisation. */
export async function readLayout(connections: NatsConnections, prefix: string): Promise<ClusterLayout | undefined> {
  const names = new Names(prefix);
  const bucket = await new JetStreamApi(connections.control).findStream(names.bucketStream('layout'));
  if (bucket === undefined) return undefined;
  const found = await layoutStore(connections, names).get(LAYOUT_KEY);
  return found === undefined ? undefined : layoutOf(decodeLayout(found.value));
}

export function layoutStore(connections: NatsConnections, names: Names): JetStreamLeaseStore {
  return new JetStreamLeaseStore(connections, names, 'layout');
}

/** The layout without the attempt. */
export function layoutOf({ attempt: _, ...layout }: LayoutRecord): ClusterLayout {
  return layout;
}

/**
 * Keeps simultaneous changes of others.
 * @param change  returns the same record when there is nothing to change
 * @throws JOURNAL_UNAVAILABLE
 */
export async function changeLayout(
  connections: NatsConnections,
  prefix: string,
  change: (record: LayoutRecord) => LayoutRecord,
): Promise<LayoutRecord> {
  const store = layoutStore(connections, new Names(prefix));
  for (;;) {
    const found = await store.get(LAYOUT_KEY);
    if (found === undefined) throw new MillraceError('JOURNAL_UNAVAILABLE', 'the layout cannot be read');
    const record = decodeLayout(found.value);
    const changed = change(record);
    if (changed === record) return record;
    const outcome = await store.update(LAYOUT_KEY, encodeLayout(changed), found.revision);
    // After a conflict or an unknown outcome the record is read again.
    if (outcome.kind === 'stored') return changed;
  }
}

export function encodeLayout(record: LayoutRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/** @throws NEWER_FORMAT when a newer program has written it, or has raised the level of formats */
export function decodeLayout(bytes: Uint8Array): LayoutRecord {
  const record = JSON.parse(Buffer.from(bytes).toString('utf8')) as LayoutRecord;
  const { version, format = FIRST_FORMAT_LEVEL } = record;
  if (version > 1) throw writtenByNewer('the layout of this installation', { of: 'version', found: version, known: 1 });
  assert(version === 1, 'a layout without a version', { version });
  if (format > FORMAT_LEVEL) {
    throw writtenByNewer('this installation', { of: 'level', found: format, known: FORMAT_LEVEL });
  }
  return record;
}
