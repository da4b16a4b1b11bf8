/**
 * A partition of a database as a fold: the engine of live commands, fed with effects. Recovery, compaction, the audit
 * commands and the live actor use the same class, so they reach the same state.
 */
import { encodeCommand, RespCommandReader } from '../../codec/resp/index.js';
import {
  digestOf,
  KvEngine,
  rebuildingCommands,
  rebuildingPreamble,
  type ServerInfo,
  SetInPlace,
} from '../../domain/kv/index.js';
import type { PartitionFold } from '../../journal/index.js';
import { type ByteString, bufferOver, type Random } from '../../kernel/index.js';

/** Replaying a `SET` takes about a microsecond; either bound keeps a slice below two milliseconds. */
const SLICE_EFFECTS = 512;
const SLICE_BYTES = 512 * 1024;
/** Segments are written in pieces of this size, because a long string of many parts is slow to flatten. */
const PIECE_BYTES = 64 * 1024;

export class KvFold implements PartitionFold {
  readonly #set = new SetInPlace();

  constructor(readonly engine: KvEngine) {}

  apply(effects: Uint8Array): void {
    const reader = readerOf(effects);
    while (this.#replayNext(reader)) {}
  }

  *applyInSlices(effects: Uint8Array): Iterable<void> {
    const reader = readerOf(effects);
    let count = 0;
    let sliceEnd = SLICE_BYTES;
    while (this.#replayNext(reader)) {
      count += 1;
      if (count < SLICE_EFFECTS && reader.offset < sliceEnd) continue;
      count = 0;
      sliceEnd = reader.offset + SLICE_BYTES;
      yield;
    }
  }

  /** @returns false when no effect was left */
  #replayNext(reader: RespCommandReader): boolean {
    if (reader.nextSet(this.#set)) {
      this.engine.replaySet(this.#set);
      return true;
    }
    const words = reader.next();
    if (words !== undefined) this.engine.replay(words);
    return words !== undefined;
  }

  *segments(segmentBytes: number): Iterable<Uint8Array> {
    let pieces: Buffer[] = [];
    let bytes = 0;
    let piece = '';
    for (const words of this.#rebuilding()) {
      piece += encodeCommand(words);
      if (piece.length < PIECE_BYTES && bytes + piece.length < segmentBytes) continue;
      pieces.push(Buffer.from(piece, 'latin1'));
      bytes += piece.length;
      piece = '';
      if (bytes < segmentBytes) continue;
      yield Buffer.concat(pieces);
      pieces = [];
      bytes = 0;
    }
    if (piece !== '') pieces.push(Buffer.from(piece, 'latin1'));
    if (pieces.length > 0) yield Buffer.concat(pieces);
  }

  *#rebuilding(): Iterable<ByteString[]> {
    yield* rebuildingPreamble(this.engine);
    for (const [key, value, expireAtMs] of this.engine.keyspace.entries()) {
      yield* rebuildingCommands(key, value, expireAtMs);
    }
  }

  digest(): string {
    return digestOf(this.engine);
  }

  get size(): number {
    return this.engine.keyspace.size;
  }

  get pending(): number {
    return this.engine.outbox.size;
  }
}

function readerOf(effects: Uint8Array): RespCommandReader {
  return new RespCommandReader(bufferOver(effects));
}

/** An empty fold for replay. Effects are absolute, so neither random numbers nor the clock are used. */
export function replayFold(): KvFold {
  return new KvFold(new KvEngine(NO_RANDOM, NO_FACTS));
}

const NO_RANDOM: Random = { bytes: (count) => new Uint8Array(count), float: () => 0 };
const NO_FACTS: ServerInfo = { nowMicros: () => 0, info: () => new Map() };
