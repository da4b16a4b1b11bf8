/**
 * Base of functions that convert Lua values to bytes. Values are read in the machine's memory, and the bytes are
 * assembled there in a buffer; when it is full, or at a pause, they are taken out in pieces.
 */
import type { ByteString } from '../../../kernel/index.js';
import { BYTES_A_LOOKUP, SLICE_ITEMS } from '../steps.js';
import type { State } from './lua-api.js';
import { MAX_COPIED_BYTES, MAX_ITEMS } from './lua-limits.js';
import { type LuaMachine, SCRATCH_BYTES } from './machine.js';
import type { OpenTable } from './open-table.js';
import { RAISED } from './run-slices.js';
import { ValueWork } from './value-work.js';

/** Everything except strings is shorter than this. */
const SHORT_BYTES = 128;
/** Space for the bytes after a string. */
const BEHIND_BYTES = 8;
/** Up to this length, copying byte by byte is faster than a call. */
const LOOPED_COPY = 32;
/** Table slots that are checked in the time of writing one value. */
const PLACES_A_VALUE = 8;

/** The result of `next` when everything is written. */
export const WRITTEN = 1;

export abstract class ValueWriter extends ValueWork {
  /** The machine's memory, and the address of the next byte. */
  protected heap: Buffer;
  protected at: number;
  protected open: OpenTable | undefined;
  readonly #begin: number;
  readonly #pieces: ByteString[] = [];
  #bytes = 0;
  #values = 0;
  /** Values to write in the current slice. */
  #left = 0;
  /** The rest of the string being written. */
  #stringAt = 0;
  #stringBytes = 0;
  #isOver = false;

  /** @param widest bytes to which one byte of a string may expand */
  constructor(
    machine: LuaMachine,
    state: State,
    private readonly widest: number,
  ) {
    super(machine, state);
    this.heap = machine.heap;
    this.#begin = machine.scratch;
    this.at = this.#begin;
  }

  /** Writes the next part. @returns `WRITTEN` or `RAISED` at the end, otherwise undefined */
  protected abstract next(): typeof WRITTEN | typeof RAISED | undefined;
  /** Writes a part of a string that fits the buffer. */
  protected abstract writeString(from: number, length: number): void;
  protected abstract endString(): void;

  protected override goOn(): number | undefined {
    if (this.#isOver) return 1;
    this.heap = this.machine.heap;
    for (this.#left = SLICE_ITEMS; this.#left > 0; this.#left -= 1) {
      if (this.at > this.#begin + SCRATCH_BYTES - SHORT_BYTES) this.#takeOut();
      if (this.#stringBytes > 0) {
        this.#copySome();
        continue;
      }
      const came = this.next();
      if (came === WRITTEN) return this.#end();
      if (came === RAISED) return RAISED;
    }
    this.#takeOut();
    return undefined;
  }

  /** @throws Stopped when there are too many */
  protected countValue(): void {
    this.#values += 1;
    if (this.#values > MAX_ITEMS) this.machine.refuseMemory();
  }

  /** Charges the work of scanning a table. */
  protected countPlaces(places: number): void {
    this.#left -= Math.floor(places / PLACES_A_VALUE);
  }

  protected byte(byte: number): void {
    this.heap[this.at] = byte;
    this.at += 1;
  }

  protected ascii(text: string): void {
    for (let i = 0; i < text.length; i += 1) this.heap[this.at + i] = text.charCodeAt(i);
    this.at += text.length;
  }

  protected copy(from: number, length: number): void {
    const { heap, at } = this;
    this.at += length;
    if (length > LOOPED_COPY) heap.copyWithin(at, from, from + length);
    else for (let i = 0; i < length; i += 1) heap[at + i] = heap[from + i] as number;
  }

  /** Writes the string at that address: as much as fits now, the rest before `next` is called again. */
  protected string(at: number): void {
    const { memory } = this.machine;
    this.#stringAt = memory.bytesAt(at);
    this.#stringBytes = memory.stringLengthAt(at);
    this.#copySome();
  }

  #copySome(): void {
    const room = this.#begin + SCRATCH_BYTES - BEHIND_BYTES - this.at;
    const bytes = Math.min(this.#stringBytes, Math.floor(room / this.widest));
    this.writeString(this.#stringAt, bytes);
    this.#stringAt += bytes;
    this.#stringBytes -= bytes;
    this.#left -= Math.floor(bytes / BYTES_A_LOOKUP);
    if (this.#stringBytes === 0) this.endString();
  }

  /** @throws Stopped when the output is too large */
  #takeOut(): void {
    const bytes = this.at - this.#begin;
    this.#bytes += bytes;
    if (this.#bytes > MAX_COPIED_BYTES) this.machine.refuseMemory();
    this.#pieces.push(this.machine.memory.read(this.#begin, bytes));
    this.at = this.#begin;
  }

  #end(): number | undefined {
    const { machine, state } = this;
    if (this.#pieces.length === 0) {
      machine.api.lua_pushlstring(state, this.#begin, this.at - this.#begin);
      return 1;
    }
    this.#takeOut();
    this.#isOver = true;
    return this.isDone(machine.pushPieces(state, this.#pieces, this.#bytes)) ? 1 : undefined;
  }
}
