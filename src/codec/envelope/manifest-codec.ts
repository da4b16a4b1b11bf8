/**
 * Manifests ↔ bytes. The object is `[1, contents, SHA-256 of contents]` in MessagePack, so that a
 * damaged one is known without anything else at hand; contents is itself a MessagePack list:
 *
 *   [shard, clusterId, [number, hash, epoch, clockMs, position],
 *    [[name, index, hash, keys, digest, [segment …], [[bodies, index, firstNumber, lastNumber] …]] …],
 *    [[commandId, clockMs] …], createdAtMs, headStoredAtMs, journalBytes]
 *
 * where segment, bodies and index are [object, bytes, sha256] each. The list of body segments is left out
 * where there are none.
 *
 * Old bytes decode for ever (test/fixtures/journals).
 */
import { Encoder } from '@msgpack/msgpack';
import type { CommandId, PartitionName, ShardName } from '../../kernel/index.js';
import type { BodySegmentRef, Manifest, ManifestHead, ManifestPartition, SegmentRef } from '../../messages/index.js';
import { Fields, HASH_BYTES, sha256 } from './entry-codec.js';

const MANIFEST_VERSION = 1;

const WHAT = 'a manifest';
const encoder = new Encoder();

export function encodeManifest(manifest: Manifest): Uint8Array {
  const { shard, clusterId, head, partitions, recentCommandIds, createdAtMs, headStoredAtMs, journalBytes } = manifest;
  const contents = encoder.encode([
    shard,
    clusterId,
    [head.number, head.hash, head.epoch, head.clockMs, head.position],
    partitions.map(partitionFields),
    recentCommandIds,
    createdAtMs,
    headStoredAtMs,
    journalBytes,
  ]);
  return encoder.encode([MANIFEST_VERSION, contents, sha256(contents)]);
}

function partitionFields({ name, index, hash, keys, digest, segments, bodySegments = [] }: ManifestPartition) {
  const fields = [name, index, hash, keys, digest, segments.map(segmentFields)];
  return bodySegments.length === 0 ? fields : [...fields, bodySegments.map(bodySegmentFields)];
}

function segmentFields({ object, bytes, sha256 }: SegmentRef) {
  return [object, bytes, sha256];
}

function bodySegmentFields({ bodies, index, firstNumber, lastNumber }: BodySegmentRef) {
  return [segmentFields(bodies), segmentFields(index), firstNumber, lastNumber];
}

/** @throws JOURNAL_DAMAGED for anything that is not a whole manifest of a version known here */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const outer = new Fields(bytes, WHAT);
  const version = outer.number(0);
  if (version !== MANIFEST_VERSION) throw outer.damage(`version ${version} is not known`);
  const contents = outer.bytes(1);
  if (Buffer.compare(sha256(contents), outer.bytes(2, HASH_BYTES)) !== 0) {
    throw outer.damage('its contents do not have their digest');
  }
  const fields = new Fields(contents, WHAT);
  return {
    shard: fields.text(0) as ShardName,
    clusterId: fields.text(1),
    head: decodeHead(fields.list(2)),
    partitions: fields.list(3).all((partitions, i) => decodePartition(partitions.list(i))),
    recentCommandIds: fields.list(4).all((recent, i) => decodeRecent(recent.list(i))),
    createdAtMs: fields.number(5),
    headStoredAtMs: fields.number(6),
    journalBytes: fields.number(7),
  };
}

function decodeHead(fields: Fields): ManifestHead {
  return {
    number: fields.number(0),
    hash: fields.bytes(1, HASH_BYTES),
    epoch: fields.number(2),
    clockMs: fields.number(3),
    position: fields.number(4),
  };
}

function decodePartition(fields: Fields): ManifestPartition {
  return {
    name: fields.text(0) as PartitionName,
    index: fields.number(1),
    hash: fields.bytes(2, HASH_BYTES),
    keys: fields.number(3),
    digest: fields.text(4),
    segments: fields.list(5).all((segments, i) => decodeSegment(segments.list(i))),
    ...(fields.has(6)
      ? { bodySegments: fields.list(6).all((segments, i) => decodeBodySegment(segments.list(i))) }
      : {}),
  };
}

function decodeBodySegment(fields: Fields): BodySegmentRef {
  return {
    bodies: decodeSegment(fields.list(0)),
    index: decodeSegment(fields.list(1)),
    firstNumber: fields.number(2),
    lastNumber: fields.number(3),
  };
}

function decodeSegment(fields: Fields): SegmentRef {
  return { object: fields.text(0), bytes: fields.number(1), sha256: fields.bytes(2, HASH_BYTES) };
}

function decodeRecent(fields: Fields): readonly [CommandId, number] {
  return [fields.text(0) as CommandId, fields.number(1)];
}
