/** Large entries: split into chunks with a final commit when written, joined when read. */
import { assert, getOrCreate, MillraceError } from '../../kernel/index.js';
import type { Entry, JournalMessage, Section } from '../../protocol/index.js';
import { decodeMessage, encodeChunk, encodeCommit, encodeEntry, hashSection, sha256 } from './entry-codec.js';

export interface EntryReading {
  /** @throws JOURNAL_DAMAGED */
  message(bytes: Uint8Array): JournalMessage;
  /** The hash of a whole entry. */
  hash(bytes: Uint8Array): Uint8Array;
  sectionHash(section: Section): Uint8Array;
}

export const readAnew: EntryReading = { message: decodeMessage, hash: sha256, sectionHash: hashSection };

/** An entry as journal messages: one message, or chunks and their commit. */
export interface EncodedEntry {
  readonly messages: readonly Uint8Array[];
  /** SHA-256 of the whole entry. */
  readonly hash: Uint8Array;
  readonly totalBytes: number;
}

export function encodeForJournal(entry: Entry, chunkBytes: number): EncodedEntry {
  const bytes = encodeEntry(entry);
  const hash = sha256(bytes);
  if (bytes.length <= chunkBytes) return { messages: [bytes], hash, totalBytes: bytes.length };
  const { shard, epoch, writer, number, clockMs } = entry;
  const messages: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    const part = messages.length;
    messages.push(
      encodeChunk({
        kind: 'chunk',
        shard,
        epoch,
        writer,
        number,
        part,
        bytes: bytes.subarray(from, from + chunkBytes),
      }),
    );
  }
  const parts = messages.length;
  messages.push(
    encodeCommit({ kind: 'commit', shard, epoch, writer, number, parts, totalBytes: bytes.length, hash, clockMs }),
  );
  return { messages, hash, totalBytes: bytes.length };
}

/** An entry from the journal. */
export interface ReadEntry {
  readonly entry: Entry;
  readonly hash: Uint8Array;
  readonly totalBytes: number;
  /** Position of its last message; the next append expects it. */
  readonly position: number;
  /** Position of its first message: a purge may cut before it. */
  readonly firstPosition: number;
}

interface OpenSet {
  readonly origin: Extract<JournalMessage, { kind: 'chunk' }>;
  readonly firstPosition: number;
  readonly parts: Uint8Array[];
}

/** Joins messages, in order of position, into entries. A set without a commit is dropped. */
export class EntryAssembler {
  #open: OpenSet | undefined;

  constructor(private readonly reading: EntryReading = readAnew) {}

  /** @throws JOURNAL_DAMAGED */
  add(position: number, bytes: Uint8Array): ReadEntry | undefined {
    const message = this.reading.message(bytes);
    switch (message.kind) {
      case 'entry':
        this.#open = undefined;
        return {
          entry: message.entry,
          hash: this.reading.hash(bytes),
          totalBytes: bytes.length,
          position,
          firstPosition: position,
        };
      case 'chunk':
        this.#addChunk(message, position);
        return undefined;
      case 'commit':
        return this.#close(message, position);
    }
  }

  #addChunk(chunk: Extract<JournalMessage, { kind: 'chunk' }>, position: number): void {
    // Part 0 opens a set; an open set before it is from an owner that lost the shard.
    if (chunk.part === 0) {
      this.#open = { origin: chunk, firstPosition: position, parts: [chunk.bytes] };
      return;
    }
    const open = this.#open;
    // A reader that starts in the middle of a set gets parts without their beginning, which was purged.
    if (open === undefined) return;
    if (!sameOrigin(open.origin, chunk) || open.parts.length !== chunk.part) {
      throw damaged('a chunk does not continue its set', position);
    }
    open.parts.push(chunk.bytes);
  }

  #close(commit: Extract<JournalMessage, { kind: 'commit' }>, position: number): ReadEntry {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined || !sameOrigin(open.origin, commit) || open.parts.length !== commit.parts) {
      throw damaged('a commit does not fit its chunks', position);
    }
    const bytes = Buffer.concat(open.parts);
    if (bytes.length !== commit.totalBytes || !Buffer.from(sha256(bytes)).equals(commit.hash)) {
      throw damaged('a chunked entry does not have the bytes it was committed with', position);
    }
    const message = this.reading.message(bytes);
    assert(message.kind === 'entry', 'chunks held something other than an entry', { position });
    return {
      entry: message.entry,
      hash: commit.hash,
      totalBytes: bytes.length,
      position,
      firstPosition: open.firstPosition,
    };
  }
}

interface Origin {
  readonly epoch: number;
  readonly number: number;
  readonly writer: Uint8Array;
}

function sameOrigin(a: Origin, b: Origin): boolean {
  return a.epoch === b.epoch && a.number === b.number && Buffer.from(a.writer).equals(b.writer);
}

function damaged(reason: string, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', reason, { position });
}

/** Results are shared by all readers of the same bytes, for as long as the bytes are referenced. */
export function readOnce(): EntryReading {
  return { message: once(decodeMessage), hash: once(sha256), sectionHash: once(hashSection) };
}

/** Functions that decode and hash journal bytes, each time or once for all readers of the same message. */
function once<From extends object, To extends object>(read: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => getOrCreate(known, from, () => read(from));
}
