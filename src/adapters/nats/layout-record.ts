/** The record that an installation's layout is kept in. */
import { assert, FIRST_FORMAT_LEVEL, FORMAT_LEVEL, MillraceError } from '../../kernel/index.js';
import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import { JetStreamLeaseStore } from './jetstream-lease-store.js';
import type { DeclaredCounts } from './streams.js';
import { Names } from './subjects.js';

export interface ClusterLayout extends DeclaredCounts {
  readonly version: 1;
  /** Random, made by the first initialisation; stands in leases and entries. */
  readonly clusterId: string;
  readonly complete: boolean;
  /** Which key seals the secrets of this installation; recorded by the first process that starts on it. */
  readonly sealKeyId?: string;
  /** The level of the forms in which things may be stored here; left out: the first. Who reads less is refused. */
  readonly format?: number;
  /** When each stream was created, as its server says, by its name without prefix. */
  readonly streams: Readonly<Record<string, string>>;
}

export interface LayoutRecord extends ClusterLayout {
  /** Who is creating streams now. */
  readonly attempt: string;
}

export interface VersionedLayout {
  readonly record: LayoutRecord;
  readonly revision: number;
}

export const LAYOUT_KEY = 'cluster';

/** The layout as it is recorded, complete or not; undefined where nothing was ever initialised. */
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

/** What it says of the installation, without who is making it. */
export function layoutOf({ attempt: _, ...layout }: LayoutRecord): ClusterLayout {
  return layout;
}

/**
 * Somebody else's change at the same moment is not lost.
 * @param change  gives the record back as it is where there is nothing to change
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
    // Another's may have been first, or nobody knows: what is recorded is looked at again.
    if (outcome.kind === 'stored') return changed;
  }
}

export function encodeLayout(record: LayoutRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/** @throws BAD_CONFIG when a newer program has raised the level of formats */
export function decodeLayout(bytes: Uint8Array): LayoutRecord {
  const record = JSON.parse(Buffer.from(bytes).toString('utf8')) as LayoutRecord;
  assert(record.version === 1, 'a layout of a newer version', { version: record.version });
  const { format = FIRST_FORMAT_LEVEL } = record;
  if (format > FORMAT_LEVEL) {
    const message = `this installation has format level ${format}, and this program reads up to ${FORMAT_LEVEL}: start a newer one`;
    throw new MillraceError('BAD_CONFIG', message, { format });
  }
  return record;
}
