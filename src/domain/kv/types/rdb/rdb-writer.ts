/**
 * Writes Redis's RDB format: lengths, strings, doubles. The bytes are collected as flat strings, because flattening
 * everything at the end would take long.
 */
import { type ByteString, bufferOfBytes, bytesOfBuffer } from '../../../../kernel/index.js';
import { parseInt64 } from '../../numbers.js';

/** Texts of integers up to this length may be stored in binary form. */
const MAX_INTEGER_TEXT = 11;
/** A longer text is added as a piece without copying. */
const MAX_OPEN_BYTES = 16 * 1024;
const scratch = Buffer.alloc(9);

export class RdbWriter {
  readonly #settled: ByteString[] = [];
  #settledBytes = 0;
  #open: ByteString = '';

  toBytes(): ByteString {
    return this.pieces.join('');
  }

  /** All pieces, in order. */
  get pieces(): readonly ByteString[] {
    return [...this.#settled, this.#open];
  }

  byte(value: number): void {
    this.raw(String.fromCharCode(value & 0xff));
  }

  raw(bytes: ByteString): void {
    if (bytes.length > MAX_OPEN_BYTES) {
      this.#settle();
      this.#keep(bytes);
      return;
    }
    this.#open += bytes;
    if (this.#open.length > MAX_OPEN_BYTES) this.#settle();
  }

  /** The top two bits of the first byte give the form. */
  size(value: number | bigint): void {
    if (value >= 0 && value < 0x40) this.byte(Number(value));
    else if (value >= 0 && value < 0x4000)
      this.raw(String.fromCharCode(0x40 | (Number(value) >> 8), Number(value) & 0xff));
    else if (value >= 0 && value <= 0xffffffff) {
      scratch[0] = 0x80;
      scratch.writeUInt32BE(Number(value), 1);
      this.raw(scratch.toString('latin1', 0, 5));
    } else {
      scratch[0] = 0x81;
      scratch.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)), 1);
      this.raw(scratch.toString('latin1', 0, 9));
    }
  }

  string(value: ByteString): void {
    const integer = value.length <= MAX_INTEGER_TEXT ? parseInt64(value) : undefined;
    if (typeof integer === 'number' && this.#integer(integer)) return;
    this.size(value.length);
    this.raw(value);
  }

  /** Milliseconds, 64 bits, little-endian. */
  instant(ms: number): void {
    scratch.writeBigInt64LE(BigInt(ms), 0);
    this.raw(scratch.toString('latin1', 0, 8));
  }

  double(value: number): void {
    scratch.writeDoubleLE(value, 0);
    this.raw(scratch.toString('latin1', 0, 8));
  }

  #settle(): void {
    this.#keep(bytesOfBuffer(bufferOfBytes(this.#open)));
    this.#open = '';
  }

  #keep(piece: ByteString): void {
    this.#settled.push(piece);
    this.#settledBytes += piece.length;
  }

  #integer(value: number): boolean {
    if (value >= -(2 ** 7) && value < 2 ** 7) {
      this.raw(String.fromCharCode(0xc0, value & 0xff));
    } else if (value >= -(2 ** 15) && value < 2 ** 15) {
      this.raw(String.fromCharCode(0xc1, value & 0xff, (value >> 8) & 0xff));
    } else if (value >= -(2 ** 31) && value < 2 ** 31) {
      scratch[0] = 0xc2;
      scratch.writeInt32LE(value, 1);
      this.raw(scratch.toString('latin1', 0, 5));
    } else {
      return false;
    }
    return true;
  }
}
