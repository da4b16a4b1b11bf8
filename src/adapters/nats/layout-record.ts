/** The record that an installation's layout is kept in. */
import { assert, MillraceError } from '../../kernel/index.js';
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
  /** The level of the formats in which things are stored here; left out: 1. Who knows less could not read all of it. */
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
/** The highest level of formats that this program reads. */
const KNOWN_FORMAT = 1;

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

export function encodeLayout(record: LayoutRecord): Uint8Array {
  return Buffer.from(JSON.stringify(record), 'utf8');
}

/** @throws BAD_CONFIG when a newer program has raised the level of formats */
export function decodeLayout(bytes: Uint8Array): LayoutRecord {
  const record = JSON.parse(Buffer.from(bytes).toString('utf8')) as LayoutRecord;
  assert(record.version === 1, 'a layout of a newer version', { version: record.version });
  const { format = 1 } = record;
  if (format > KNOWN_FORMAT) {
    const message = `this installation has format level ${format}, and this program reads up to ${KNOWN_FORMAT}: start a newer one`;
    throw new MillraceError('BAD_CONFIG', message, { format });
  }
  return record;
}
