/**
 * A section of an entry as one line of JSON, for people and other programs. Effects are commands (lists of words), or
 * events of a queue (objects). Bytes that are not UTF-8 are `{"base64": "…"}`, so no data is lost. Long lines come in
 * pieces.
 */
import { hashSection, type ReadEntry } from '../codec/envelope/index.js';
import { decodeQueueEvents } from '../codec/queue/index.js';
import { MalformedRespError, RespCommandReader } from '../codec/resp/index.js';
import { type ByteString, bufferOver, MillraceError, type PartitionName, shownBytes } from '../kernel/index.js';
import { entrySections, isQueuePartition, type Section, type SectionAuthors } from '../protocol/index.js';

/** The approximate length of a piece; the line of a large entry would be one string of its size. */
const PIECE_CHARACTERS = 64 * 1024;

/** True for a wanted command of a database. */
export type WantedEffect = (words: readonly ByteString[]) => boolean;

/**
 * The lines of an entry's sections of these partitions.
 * @param wants  selects effects of a database's sections; sections without any are skipped; undefined: all
 * @throws JOURNAL_DAMAGED when effects are not in the form of their plane
 */
export function* linesOf(
  read: ReadEntry,
  partitions: ReadonlySet<PartitionName>,
  wants?: WantedEffect,
): Iterable<string> {
  for (const section of entrySections(read.entry))
    if (partitions.has(section.partition)) yield* sectionLine(read, section, wants);
}

function* sectionLine(read: ReadEntry, section: Section, wants: WantedEffect | undefined): Iterable<string> {
  let piece: string | undefined;
  for (const effect of effectsOf(section, read.position, wants)) {
    piece = piece === undefined ? `${beginningOf(read, section)}${effect}` : `${piece},${effect}`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  if (piece !== undefined || wants === undefined) yield `${piece ?? beginningOf(read, section)}]}\n`;
}

function beginningOf({ entry, position }: ReadEntry, section: Section): string {
  const fields = {
    shard: entry.shard,
    position,
    number: entry.number,
    epoch: entry.epoch,
    time: new Date(entry.clockMs).toISOString(),
    partition: section.partition,
    index: section.index,
    previousHash: Buffer.from(section.previousHash).toString('hex'),
    hash: Buffer.from(hashSection(section)).toString('hex'),
    ...(section.authors !== undefined && { authors: namedRuns(section.authors) }),
  };
  return `${JSON.stringify(fields).slice(0, -1)},"effects":[`;
}

/** Each author, with the number of successive effects. */
function namedRuns([names, runs]: SectionAuthors): (readonly [author: string, effects: number])[] {
  const named: [string, number][] = [];
  for (let at = 0; at + 1 < runs.length; at += 2) named.push([names[runs[at] ?? -1] ?? '', runs[at + 1] ?? 0]);
  return named;
}

function* effectsOf(section: Section, position: number, wants: WantedEffect | undefined): Iterable<string> {
  if (isQueuePartition(section.partition)) {
    for (const event of decodeQueueEvents(section.effects)) yield JSON.stringify(event, plainValue);
    return;
  }
  for (const words of commandsOf(section, position)) {
    if (wants === undefined || wants(words)) yield `[${words.map(wordJson).join(',')}]`;
  }
}

function* commandsOf({ effects, partition }: Section, position: number): Iterable<ByteString[]> {
  try {
    yield* new RespCommandReader(bufferOver(effects));
  } catch (error) {
    if (!(error instanceof MalformedRespError)) throw error;
    throw new MillraceError(
      'JOURNAL_DAMAGED',
      `${partition}: effects are not commands`,
      { position, partition },
      error,
    );
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A byte string as JSON: text when it is UTF-8. */
export function wordJson(word: ByteString): string {
  return JSON.stringify(shownBytes(word));
}

/** Converts values that JSON cannot express. */
function plainValue(this: Readonly<Record<string, unknown>>, name: string, given: unknown): unknown {
  // JSON.stringify has already converted a buffer when it calls this, so the original is read from the object.
  const value = this[name] instanceof Uint8Array ? this[name] : given;
  if (value instanceof Map) return Object.fromEntries(value);
  if (!(value instanceof Uint8Array)) return value;
  try {
    return strictUtf8.decode(value);
  } catch {
    return { base64: bufferOver(value).toString('base64') };
  }
}
