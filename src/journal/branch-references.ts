/**
 * The objects of branches: for each partition a manifest that names segments of its origin's snapshot, and the entries
 * or effects after that snapshot.
 *
 *   branch/<database>/<index of the partition>/manifest   in the form of a snapshot's, with one partition
 *   branch/<database>/<index of the partition>/tail       a copy of the effects after that snapshot, if it was needed
 *   branch/<database>/<index of the partition>/copied     the manifest that replaces the first one after such a copy
 *
 *  BRR1 a manifest is removed before its tail, so that an incomplete set never looks complete
 */
import { decodeManifest } from '../codec/envelope/index.js';
import { type DatabaseId, MillraceError } from '../kernel/index.js';
import type { ObjectStore } from '../ports/index.js';
import type { Manifest } from '../protocol/index.js';

type Objects = Pick<ObjectStore, 'get' | 'list'>;

const PREFIX = 'branch/';

export function branchObject(database: DatabaseId, index: number, part: 'manifest' | 'copied' | 'tail'): string {
  return `${prefixOf(database)}${index}/${part}`;
}

/** The first state of a branch's partition; undefined when there is none. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function readBranch(
  objects: Pick<ObjectStore, 'get'>,
  database: DatabaseId,
  index: number,
): Promise<Manifest | undefined> {
  const copied = await manifestIn(objects, branchObject(database, index, 'copied'));
  return copied ?? manifestIn(objects, branchObject(database, index, 'manifest'));
}

export interface BranchManifest {
  readonly database: DatabaseId;
  readonly index: number;
  readonly manifest: Manifest;
}

/** Those that count, of all branches. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function branchManifests(objects: Objects): Promise<readonly BranchManifest[]> {
  const found: BranchManifest[] = [];
  for (const { name } of await objects.list(PREFIX)) {
    if (!name.endsWith('/manifest')) continue;
    const [database = '', index = ''] = name.slice(PREFIX.length).split('/');
    const place = { database: database as DatabaseId, index: Number(index) };
    const manifest = await readBranch(objects, place.database, place.index);
    if (manifest !== undefined) found.push({ ...place, manifest });
  }
  return found;
}

async function manifestIn(objects: Pick<ObjectStore, 'get'>, name: string): Promise<Manifest | undefined> {
  const bytes = await objects.get(name);
  if (bytes === undefined) return undefined;
  const manifest = decodeManifest(bytes);
  if (manifest.partitions.length === 1) return manifest;
  throw new MillraceError('JOURNAL_DAMAGED', 'the manifest of a branch has not just one partition', { manifest: name });
}

/** Segments that a branch names, which therefore stay. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function referredObjects(objects: Objects): Promise<Set<string>> {
  const referred = new Set<string>();
  for (const { manifest } of await branchManifests(objects)) {
    for (const { segments } of manifest.partitions) for (const { object } of segments) referred.add(object);
  }
  return referred;
}

/** All databases with such objects. */
export async function referringBranches(objects: Objects): Promise<Set<DatabaseId>> {
  const found = await objects.list(PREFIX);
  return new Set(found.map(({ name }) => name.slice(PREFIX.length).split('/')[0] as DatabaseId));
}

/** Missing objects are ignored. */
export async function removeReferences(
  objects: Pick<ObjectStore, 'list' | 'delete'>,
  database: DatabaseId,
): Promise<void> {
  const names = (await objects.list(prefixOf(database))).map(({ name }) => name);
  const isManifest = (name: string) => !name.endsWith('/tail');
  for (const name of names.filter(isManifest)) await objects.delete(name);
  for (const name of names.filter((name) => !isManifest(name))) await objects.delete(name);
}

function prefixOf(database: DatabaseId): string {
  return `${PREFIX}${database}/`;
}
