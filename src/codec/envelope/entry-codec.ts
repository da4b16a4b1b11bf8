/**
 * Codec of journal messages: MessagePack lists with the version of the format first. Fields that a later release
 * appends to a list are ignored. Old bytes are decoded for ever (test/fixtures/journals has some of each version).
 *
 *   entry   [1, 0|1|2, shard, epoch, writer, number, previousHash, clockMs, body]
 *     claim body      [clusterId]
 *     batch body      [[commandId …], [[partition, index, previousHash, effects, authors?] …]]
 *       authors       [[name …], [place of the name, number of effects, …]]
 *     snapshot body   [manifest, digest, coveredNumber]
 *   chunk   [1, 3, shard, epoch, writer, number, part, bytes]
 *   commit  [1, 4, shard, epoch, writer, number, parts, totalBytes, hash, clockMs]
 */
import { createHash, hash as hashOf } from 'node:crypto';
import type { CommandId, PartitionName, ShardName } from '../../kernel/index.js';
import {
  absent,
  bytes,
  bytesOf,
  type Declared,
  decoded,
  encoded,
  listOf,
  openFields,
  openRecord,
  Packer,
  type Shape,
  type TypeOf,
  text,
  tuple,
  unionFields,
  versioned,
  whole,
} from '../../kernel/schema/index.js';
import type { Entry, EntryBody, JournalMessage, Section, SectionAuthors } from '../../protocol/index.js';
import { decodeHotBatch } from './hot-batch.js';

export const HASH_BYTES = 32;
export const WRITER_BYTES = 16;
/** The previous hash of a shard's first entry and of a partition's first section. */
export const NO_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

const hash = bytesOf(HASH_BYTES);
const origin = { shard: text<ShardName>(), epoch: whole, writer: bytesOf(WRITER_BYTES), number: whole };
const chained = { partition: text<PartitionName>(), index: whole, previousHash: hash };

const authors: Shape<SectionAuthors> = tuple<[readonly string[], readonly number[]]>(listOf(text()), listOf(whole));
const section: Shape<Section> = openRecord({ ...chained, effects: bytes, authors: absent(authors) });

const stored = versioned(
  1,
  unionFields('kind', {
    claim: [0, entryWith('claim', { clusterId: text() })],
    batch: [1, entryWith('batch', { commandIds: listOf(text<CommandId>()), sections: listOf(section) })],
    snapshot: [2, entryWith('snapshot', { manifest: text(), digest: bytes, coveredNumber: whole })],
    chunk: [3, openFields({ ...origin, part: whole, bytes })],
    commit: [4, openFields({ ...origin, parts: whole, totalBytes: whole, hash, clockMs: whole })],
  }),
);
type Stored = TypeOf<typeof stored>;

/** The body is a nested list; its kind precedes the entry. */
function entryWith<const K extends EntryBody['kind'], const F extends Declared>(kind: K, shapes: F) {
  const fields = openRecord(shapes);
  const body: Shape<{ readonly kind: K } & TypeOf<typeof fields>> = {
    write: (out, value) => fields.write(out, value),
    read: (from) => ({ kind, ...fields.read(from) }),
  };
  return openFields({ ...origin, previousHash: hash, clockMs: whole, body });
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return hashOf('sha256', bytes, 'buffer');
}

export function encodeEntry({ shard, epoch, writer, number, previousHash, clockMs, body }: Entry): Uint8Array {
  const message = { kind: body.kind, shard, epoch, writer, number, previousHash, clockMs, body };
  return encoded(stored, message as Stored);
}

const hashed = new Packer();

/** Copying fewer effect bytes is cheaper than hashing in two calls. */
const COPIED_EFFECT_BYTES = 4 * 1024;

/** The previous hash of the partition's next section. */
export function hashSection(section: Section): Uint8Array {
  const { effects } = section;
  if (effects.length > COPIED_EFFECT_BYTES) {
    return createHash('sha256').update(sectionHashHead(section)).update(effects).digest();
  }
  return sha256(
    hashed.passing((out) => {
      writeSectionHead(out, section);
      out.raw(effects);
    }),
  );
}

/** The fields around the effects are encoded separately, so that large effects are not copied for the hash. */
export function sectionHashHead(section: Section): Uint8Array {
  return hashed.pack((out) => writeSectionHead(out, section));
}

/** A list of the partition, the index, the previous hash and the number of bytes of the effects. */
function writeSectionHead(out: Packer, { partition, index, previousHash, effects }: Section): void {
  out.list(4);
  out.text(partition);
  out.whole(index);
  out.bytes(previousHash);
  out.whole(effects.length);
}

/** The section's bytes as in its entry. */
export function encodeSection(value: Section): Uint8Array {
  return encoded(section, value);
}

export function encodeChunk(message: Extract<JournalMessage, { kind: 'chunk' }>): Uint8Array {
  return encoded(stored, message);
}

export function encodeCommit(message: Extract<JournalMessage, { kind: 'commit' }>): Uint8Array {
  return encoded(stored, message);
}

/** @throws JOURNAL_DAMAGED for anything but a message of a known version */
export function decodeMessage(bytes: Uint8Array): JournalMessage {
  const batch = decodeHotBatch(bytes);
  if (batch !== undefined) return { kind: 'entry', entry: batch };
  const message = decoded(stored, bytes, 'a journal message');
  if (message.kind === 'chunk' || message.kind === 'commit') return message;
  const { shard, epoch, writer, number, previousHash, clockMs, body } = message;
  return { kind: 'entry', entry: { shard, epoch, writer, number, previousHash, clockMs, body } };
}
