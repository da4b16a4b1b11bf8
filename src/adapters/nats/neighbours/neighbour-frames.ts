/**
 * The frames between two processes of one machine: four bytes of length, one of kind, four of a number, then the body.
 * docs/protocol.md lists the kinds.
 *
 *  NF1 a frame has at most `MAX_FRAME_BYTES`; a longer one, and an unknown kind, end the connection
 *  NF2 frames that are written in one round of the event loop are sent in one write
 */
import type { Socket } from 'node:net';
import { MillraceError } from '../../../kernel/index.js';

/** The kinds, by their number. */
export const KIND = {
  /** The first frame of the process that has connected: the number is the version, the body the secret and its name. */
  hello: 0,
  /** A topic that the sender serves from now on: its number, its subject. */
  serve: 1,
  /** The sender serves the topic of this number no more. */
  unserve: 2,
  /** A request: its number, the number of the topic in four bytes, the payload. */
  request: 3,
  /** The payload of the answer to the request of this number. */
  answer: 4,
  /** The answer as a frame of the bus: a failure, or the offer of a large payload. */
  other: 5,
  /** The request of this number was not received, and will not be. */
  unserved: 6,
  /** A sign of life is asked for, and given. */
  ping: 7,
  pong: 8,
} as const;

export interface NeighbourFrame {
  readonly kind: number;
  readonly number: number;
  /** Of a request; otherwise 0. */
  readonly topic: number;
  readonly body: Buffer;
}

const HEAD_BYTES = 9;
const REQUEST_HEAD_BYTES = HEAD_BYTES + 4;
/** A payload of 512 KiB, the largest that is not sent in pieces, and its head. */
const MAX_FRAME_BYTES = 576 * 1024;
/** Frames are collected here until the end of the round; a longer one is written by itself. */
const ROUND_BYTES = 32 * 1024;

/** NF2 */
export class FrameWriter {
  readonly #round = Buffer.allocUnsafeSlow(ROUND_BYTES);
  #at = 0;
  readonly #full: Uint8Array[] = [];
  #fullBytes = 0;
  #isScheduled = false;

  constructor(private readonly socket: Socket) {}

  /** The bytes that the other process has not taken yet. */
  get unsentBytes(): number {
    return this.#at + this.#fullBytes + this.socket.writableLength;
  }

  /** @param topic  of a request: its number */
  write(kind: number, number: number, body: Uint8Array, topic?: number): void {
    const head = topic === undefined ? HEAD_BYTES : REQUEST_HEAD_BYTES;
    const bytes = head + body.length;
    if (this.#at + bytes > ROUND_BYTES) this.#setAside();
    const isLong = bytes > ROUND_BYTES;
    const at = this.#at;
    const round = this.#round;
    round.writeUInt32BE(bytes - 4, at);
    round[at + 4] = kind;
    round.writeUInt32BE(number, at + 5);
    if (topic !== undefined) round.writeUInt32BE(topic, at + HEAD_BYTES);
    this.#at += head;
    if (isLong) {
      this.#setAside();
      this.#full.push(body);
      this.#fullBytes += body.length;
    } else {
      round.set(body, this.#at);
      this.#at += body.length;
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    this.#setAside();
    const full = this.#full.splice(0);
    this.#fullBytes = 0;
    if (this.socket.destroyed) return;
    if (full.length > 1) this.socket.cork();
    for (const bytes of full) this.socket.write(bytes);
    if (full.length > 1) this.socket.uncork();
  };

  /** The bytes of the round are copied, because the socket may keep them for longer. */
  #setAside(): void {
    if (this.#at === 0) return;
    this.#full.push(Buffer.from(this.#round.subarray(0, this.#at)));
    this.#fullBytes += this.#at;
    this.#at = 0;
  }
}

export class FrameReader {
  /** The beginning of a frame whose end has not arrived. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Its size; undefined while its length is not known. */
  #needed: number | undefined;

  constructor(private readonly onFrame: (frame: NeighbourFrame) => void) {}

  /** @throws DEFECT for a frame that is too long (NF1) */
  push(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#bytes > 0) {
      this.#parts.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes < (this.#needed ?? 4)) return;
      bytes = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
    }
    let at = 0;
    this.#needed = undefined;
    while (bytes.length - at >= 4) {
      const end = at + 4 + frameBytes(bytes, at);
      if (end > bytes.length) {
        this.#needed = end - at;
        break;
      }
      const kind = bytes[at + 4] as number;
      const isRequest = kind === KIND.request && end - at >= REQUEST_HEAD_BYTES;
      const topic = isRequest ? bytes.readUInt32BE(at + HEAD_BYTES) : 0;
      const body = bytes.subarray(at + (isRequest ? REQUEST_HEAD_BYTES : HEAD_BYTES), end);
      this.onFrame({ kind, number: bytes.readUInt32BE(at + 5), topic, body });
      at = end;
    }
    if (at === bytes.length) return;
    this.#parts = [bytes.subarray(at)];
    this.#bytes = bytes.length - at;
  }
}

function frameBytes(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length < HEAD_BYTES - 4 || length > MAX_FRAME_BYTES) {
    throw new MillraceError('DEFECT', 'a frame of another process has an impossible length', { length });
  }
  return length;
}
