/**
 * A hand-written decoder of batches, which nearly all entries are. A replay decodes thousands of them before the engine has
 * compiled the functions of the declared shape, which reads all other messages, and damaged ones with the error that names
 * the field. A test compares the values.
 */
import type { CommandId, PartitionName, ShardName } from '../../kernel/index.js';
import { Unpacker } from '../../kernel/schema/index.js';
import type { Entry, Section, SectionAuthors } from '../../protocol/index.js';

/** The list, version 1, kind 1. */
const BATCH = Uint8Array.of(0x99, 1, 1);
const BODY_FIELDS = 2;
/** The fields of a section without authors. */
const SECTION_FIELDS = 4;
const AUTHORS_FIELDS = 2;
const HASH_BYTES = 32;
const WRITER_BYTES = 16;

/** @returns undefined for any other message, and for a batch that the declared shape has to judge */
export function decodeHotBatch(message: Uint8Array): Entry | undefined {
  const from = new Unpacker(message);
  if (!from.takes(BATCH)) return undefined;
  try {
    const entry = readBatch(from);
    return from.isAtEnd ? entry : undefined;
  } catch {
    return undefined;
  }
}

function readBatch(from: Unpacker): Entry | undefined {
  const shard = from.name() as ShardName;
  const epoch = from.whole();
  // These are compared and not kept, so they are views of the message.
  const writer = from.view();
  const number = from.whole();
  const previousHash = from.view();
  const clockMs = from.whole();
  if (writer.length !== WRITER_BYTES || previousHash.length !== HASH_BYTES) return undefined;
  if (from.list() !== BODY_FIELDS) return undefined;
  const commandIds: CommandId[] = [];
  for (let left = from.list(); left > 0; left -= 1) commandIds.push(from.text() as CommandId);
  const sections: Section[] = [];
  for (let left = from.list(); left > 0; left -= 1) {
    const section = readSection(from);
    if (section === undefined) return undefined;
    sections.push(section);
  }
  return { shard, epoch, writer, number, previousHash, clockMs, body: { kind: 'batch', commandIds, sections } };
}

function readSection(from: Unpacker): Section | undefined {
  const fields = from.list();
  const partition = from.name() as PartitionName;
  const index = from.whole();
  const previousHash = from.view();
  const effects = from.bytes();
  if (previousHash.length !== HASH_BYTES) return undefined;
  if (fields === SECTION_FIELDS) return { partition, index, previousHash, effects };
  if (fields !== SECTION_FIELDS + 1) return undefined;
  const authors = readAuthors(from);
  return authors && { partition, index, previousHash, effects, authors };
}

function readAuthors(from: Unpacker): SectionAuthors | undefined {
  const names: string[] = [];
  const runs: number[] = [];
  if (from.takesNil() || from.list() !== AUTHORS_FIELDS) return undefined;
  for (let left = from.list(); left > 0; left -= 1) names.push(from.name());
  for (let left = from.list(); left > 0; left -= 1) runs.push(from.whole());
  return [names, runs];
}
