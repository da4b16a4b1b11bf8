/**
 * Decides whether a connection reads more.
 *
 *  IG1 while commands cannot be taken, input is read only up to a limit
 *  IG2 the rest of a partly received command needs room in the budget, because its beginning cannot be returned. A
 *      client is refused after a bounded wait, or immediately if it is not signed in
 *  IG3 a client that sends more than a slice at a time lets other connections run in between: the system buffers up
 *      to two megabytes
 */
import type { Socket } from 'node:net';
import type { ErrorReply } from '../../domain/kv/index.js';
import { type HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import { NO_MEMORY, NO_MEMORY_FOR_STRANGERS } from './memory-refusals.js';
import type { RespClient } from './resp-client.js';

/** The size of Node's reads: after a full one, more bytes are waiting. */
const WHOLE_READ_BYTES = 64 * 1024;
/** About a millisecond of short words per read. */
const STRETCH_READS = 3;

export interface InputGateParts {
  readonly socket: Socket;
  readonly client: RespClient;
  readonly parser: { readonly heldBytes: number };
  readonly held: HeldBytes;
  readonly isEnding: () => boolean;
  /** The budget has room again. */
  readonly onRoom: () => void;
  readonly onRefused: (reason: ErrorReply) => void;
}

export class InputGate {
  #isAwaitingRoom = false;
  #isYielding = false;
  #wholeReads = 0;

  constructor(private readonly parts: InputGateParts) {}

  /** Called after each read (IG3: large input is read in slices). */
  note(bytes: number): void {
    this.#wholeReads = bytes < WHOLE_READ_BYTES ? 0 : this.#wholeReads + 1;
    if (this.#wholeReads < STRETCH_READS) return;
    const { socket, client, isEnding, onRoom } = this.parts;
    this.#wholeReads = 0;
    this.#isYielding = true;
    socket.pause();
    client.endpoint.parts.timers.soon(() => {
      this.#isYielding = false;
      if (!isEnding()) onRoom();
    });
  }

  /** Commands cannot be taken now (IG1: input is read up to a limit). */
  narrow(): void {
    const { parser, held, client, socket } = this.parts;
    const { heldBytes } = parser;
    const isMuch = heldBytes > client.endpoint.parts.limits.maxPendingBytes;
    if (!isMuch && (heldBytes <= UNCOUNTED_BYTES || held.fits())) return;
    held.count();
    socket.pause();
  }

  /** Commands can be taken, and complete ones have been. */
  open(): void {
    const { parser, held, socket } = this.parts;
    if (parser.heldBytes > UNCOUNTED_BYTES && !held.fits()) {
      this.#awaitRoom();
      return;
    }
    held.count();
    if (socket.isPaused() && !this.#isAwaitingRoom && !this.#isYielding) socket.resume();
  }

  /** Waits for room for the rest of a partly received command (IG2). */
  #awaitRoom(): void {
    const { socket, client, held, isEnding, onRoom, onRefused } = this.parts;
    held.count();
    socket.pause();
    const { grant, endpoint } = client;
    if (grant === undefined) {
      onRefused(NO_MEMORY_FOR_STRANGERS);
      return;
    }
    if (this.#isAwaitingRoom) return;
    this.#isAwaitingRoom = true;
    const { database } = grant;
    const wait = endpoint.room.wait(database, () => endpoint.budget.hasRoom(database), isEnding);
    wait.then((hasRoom) => {
      this.#isAwaitingRoom = false;
      if (isEnding()) return;
      if (hasRoom) onRoom();
      else onRefused(NO_MEMORY);
    });
  }
}
