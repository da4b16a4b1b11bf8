/**
 * Verifies the bodies of snapshots: bodies that came with entries since the snapshot before, and those moved from its
 * segments, are in the next one with the same bytes while the state needs them.
 */
import { sha256 } from '../codec/envelope/index.js';
import type { BodySegmentRef, ManifestPartition } from '../protocol/index.js';
import { readBodySegment } from './body-segments.js';
import type { BodySource } from './partition-fold.js';
import type { SnapshotStore } from './snapshot-store.js';

/** Reads the segments that `earlier` does not have. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE */
export async function readBodies(
  store: SnapshotStore,
  { name, bodySegments = [] }: ManifestPartition,
  earlier: ManifestPartition | undefined,
): Promise<void> {
  const known = keysOf(earlier);
  for (const ref of bodySegments) if (!known.has(keyOf(ref))) await readBodySegment(store, name, ref);
}

/**
 * @param before  the partition in the snapshot before; undefined: it had none
 * @param bodies  of a fold of `before` and the entries up to `next`
 * @returns the faults, a line each
 * @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE
 */
export async function compareBodies(
  store: SnapshotStore,
  before: ManifestPartition | undefined,
  next: ManifestPartition,
  bodies: BodySource,
): Promise<string[]> {
  const { name } = next;
  const kept = keysOf(next);
  const known = keysOf(before);
  const expected = new Map<number, Uint8Array>();
  for (const [number, content] of bodies.fresh()) expected.set(number, sha256(content));
  for (const ref of before?.bodySegments ?? []) {
    if (kept.has(keyOf(ref))) continue;
    for (const [number, content] of await readBodySegment(store, name, ref)) {
      if (bodies.isNeeded(number)) expected.set(number, sha256(content));
    }
  }
  const wrong: string[] = [];
  for (const ref of next.bodySegments ?? []) {
    if (known.has(keyOf(ref))) continue;
    for (const [number, content] of await readBodySegment(store, name, ref)) {
      const hash = expected.get(number);
      expected.delete(number);
      // A dropped body may remain in a segment as long as its neighbours are needed.
      if (hash === undefined) {
        if (bodies.isNeeded(number)) wrong.push(`body ${number} belongs to no entry`);
      } else if (Buffer.compare(hash, sha256(content)) !== 0) {
        wrong.push(`body ${number} differs from the body of its entry`);
      }
    }
  }
  for (const number of expected.keys()) wrong.push(`body ${number} is missing`);
  return wrong;
}

function keysOf(partition: ManifestPartition | undefined): Set<string> {
  return new Set((partition?.bodySegments ?? []).map(keyOf));
}

function keyOf({ bodies, index }: BodySegmentRef): string {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return `${bodies.object} ${hex(bodies.sha256)} ${hex(index.sha256)}`;
}
