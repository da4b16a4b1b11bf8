/**
 * Journal messages ↔ bytes: MessagePack arrays, the first element the version of the format.
 * Old bytes decode for ever (test/fixtures/journals holds some of each version).
 *
 *   entry   [1, 0|1|2, shard, epoch, writer, number, previousHash, clockMs, body]
 *     claim body      [clusterId]
 *     batch body      [[commandId …], [[partition, index, previousHash, effects] …]]
 *     snapshot body   [manifest, digest, coveredNumber]
 *   chunk   [1, 3, shard, epoch, writer, number, part, bytes]
 *   commit  [1, 4, shard, epoch, writer, number, parts, totalBytes, hash, clockMs]
 */
import { createHash } from 'node:crypto';
import { Decoder, Encoder } from '@msgpack/msgpack';
import { type CommandId, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import type { Entry, EntryBody, JournalMessage, Section } from '../../messages/index.js';

const ENTRY_VERSION = 1;

export const HASH_BYTES = 32;
export const WRITER_BYTES = 16;
/** What the first entry of a shard, and the first section of a partition, name as their predecessor. */
export const NO_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

const KIND = { claim: 0, batch: 1, snapshot: 2, chunk: 3, commit: 4 } as const;

const encoder = new Encoder();
const decoder = new Decoder();

export function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}

export function encodeEntry(entry: Entry): Uint8Array {
  const { shard, epoch, writer, number, previousHash, clockMs, body } = entry;
  return encoder.encode([
    ENTRY_VERSION,
    KIND[body.kind],
    shard,
    epoch,
    writer,
    number,
    previousHash,
    clockMs,
    bodyFields(body),
  ]);
}

function bodyFields(body: EntryBody): unknown[] {
  switch (body.kind) {
    case 'claim':
      return [body.clusterId];
    case 'batch':
      return [body.commandIds, body.sections.map(sectionFields)];
    case 'snapshot':
      return [body.manifest, body.digest, body.coveredNumber];
  }
}

function sectionFields(section: Section): unknown[] {
  return [section.partition, section.index, section.previousHash, section.effects];
}

/** What the partition's next section names as its predecessor. */
export function hashSection(section: Section): Uint8Array {
  return createHash('sha256').update(sectionHashHead(section)).update(section.effects).digest();
}

/** The fields around the effects are encoded alone, so that large effects are not copied for the hash. */
export function sectionHashHead({ partition, index, previousHash, effects }: Section): Uint8Array {
  return encoder.encode([partition, index, previousHash, effects.length]);
}

/** The section stands so in its entry. */
export function encodeSection(section: Section): Uint8Array {
  return encoder.encode(sectionFields(section));
}

export function encodeChunk(message: Extract<JournalMessage, { kind: 'chunk' }>): Uint8Array {
  const { shard, epoch, writer, number, part, bytes } = message;
  return encoder.encode([ENTRY_VERSION, KIND.chunk, shard, epoch, writer, number, part, bytes]);
}

export function encodeCommit(message: Extract<JournalMessage, { kind: 'commit' }>): Uint8Array {
  const { shard, epoch, writer, number, parts, totalBytes, hash, clockMs } = message;
  return encoder.encode([ENTRY_VERSION, KIND.commit, shard, epoch, writer, number, parts, totalBytes, hash, clockMs]);
}

/** @throws JOURNAL_DAMAGED for anything that is not a message of a version known here */
export function decodeMessage(bytes: Uint8Array): JournalMessage {
  const fields = new FieldReader(bytes);
  const version = fields.number(0);
  if (version !== ENTRY_VERSION) throw fields.damage(`version ${version} is not known`);
  const kind = fields.number(1);
  const origin = {
    shard: fields.text(2) as ShardName,
    epoch: fields.number(3),
    writer: fields.bytes(4, WRITER_BYTES),
    number: fields.number(5),
  };
  if (kind === KIND.chunk) return { kind: 'chunk', ...origin, part: fields.number(6), bytes: fields.bytes(7) };
  if (kind === KIND.commit) {
    return {
      kind: 'commit',
      ...origin,
      parts: fields.number(6),
      totalBytes: fields.number(7),
      hash: fields.bytes(8, HASH_BYTES),
      clockMs: fields.number(9),
    };
  }
  const header = { ...origin, previousHash: fields.bytes(6, HASH_BYTES), clockMs: fields.number(7) };
  return { kind: 'entry', entry: { ...header, body: decodeBody(kind, fields.list(8)) } };
}

function decodeBody(kind: number, fields: FieldReader): EntryBody {
  switch (kind) {
    case KIND.claim:
      return { kind: 'claim', clusterId: fields.text(0) };
    case KIND.batch:
      return {
        kind: 'batch',
        commandIds: fields.list(0).all((ids, i) => ids.text(i) as CommandId),
        sections: fields.list(1).all((sections, i) => decodeSection(sections.list(i))),
      };
    case KIND.snapshot:
      return { kind: 'snapshot', manifest: fields.text(0), digest: fields.bytes(1), coveredNumber: fields.number(2) };
    default:
      throw fields.damage(`kind ${kind} is not known`);
  }
}

function decodeSection(fields: FieldReader): Section {
  return {
    partition: fields.text(0) as PartitionName,
    index: fields.number(1),
    previousHash: fields.bytes(2, HASH_BYTES),
    effects: fields.bytes(3),
  };
}

/** A decoded array whose elements are checked as they are taken. */
class FieldReader {
  readonly #values: readonly unknown[];

  constructor(source: Uint8Array | readonly unknown[]) {
    this.#values = source instanceof Uint8Array ? decodeArray(source) : source;
  }

  number(index: number): number {
    const value = this.#values[index];
    if (!Number.isSafeInteger(value)) throw this.damage(`field ${index} is not an integer`);
    return value as number;
  }

  text(index: number): string {
    const value = this.#values[index];
    if (typeof value !== 'string') throw this.damage(`field ${index} is not a text`);
    return value;
  }

  bytes(index: number, length?: number): Uint8Array {
    const value = this.#values[index];
    if (!(value instanceof Uint8Array)) throw this.damage(`field ${index} is not bytes`);
    if (length !== undefined && value.length !== length) throw this.damage(`field ${index} is not ${length} bytes`);
    return value;
  }

  list(index: number): FieldReader {
    const value = this.#values[index];
    if (!Array.isArray(value)) throw this.damage(`field ${index} is not a list`);
    return new FieldReader(value);
  }

  all<T>(take: (fields: FieldReader, index: number) => T): T[] {
    return this.#values.map((_, index) => take(this, index));
  }

  damage(reason: string): MillraceError {
    return new MillraceError('JOURNAL_DAMAGED', `a journal message cannot be read: ${reason}`);
  }
}

function decodeArray(bytes: Uint8Array): readonly unknown[] {
  let value: unknown;
  try {
    value = decoder.decode(bytes);
  } catch (cause) {
    throw new MillraceError('JOURNAL_DAMAGED', 'a journal message is not MessagePack', {}, cause);
  }
  if (!Array.isArray(value)) throw new MillraceError('JOURNAL_DAMAGED', 'a journal message is not a list');
  return value;
}
