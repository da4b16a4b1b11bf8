/**
 * Whether a connection reads on.
 *
 *  IG1 while something is in the way only so much is read as may wait behind it
 *  IG2 for the rest of a command that is being received there has to be room: its beginning cannot be given back. Who
 *      finds none for too long is refused; so is at once whom nobody knows
 *  IG3 who sends more than a stretch at a time lets others run behind it: the system has up to two megabytes read at once
 */
import type { Socket } from 'node:net';
import type { ErrorReply } from '../../domain/kv/index.js';
import { type HeldBytes, UNCOUNTED_BYTES } from './held-bytes.js';
import { NO_MEMORY, NO_MEMORY_FOR_STRANGERS } from './memory-refusals.js';
import type { RespClient } from './resp-client.js';

/** What Node.js reads at a time: behind as much there is more. */
const WHOLE_READ_BYTES = 64 * 1024;
/** A millisecond or so of short words for each of them. */
const STRETCH_READS = 3;

export interface InputGateParts {
  readonly socket: Socket;
  readonly client: RespClient;
  readonly parser: { readonly heldBytes: number };
  readonly held: HeldBytes;
  readonly isEnding: () => boolean;
  /** There is room again. */
  readonly onRoom: () => void;
  readonly onRefused: (why: ErrorReply) => void;
}

export class InputGate {
  #isAwaitingRoom = false;
  #isBreathing = false;
  #wholeReads = 0;

  constructor(private readonly parts: InputGateParts) {}

  /** So much was read. (IG3) */
  note(bytes: number): void {
    this.#wholeReads = bytes < WHOLE_READ_BYTES ? 0 : this.#wholeReads + 1;
    if (this.#wholeReads < STRETCH_READS) return;
    const { socket, client, isEnding, onRoom } = this.parts;
    this.#wholeReads = 0;
    this.#isBreathing = true;
    socket.pause();
    client.face.parts.timers.soon(() => {
      this.#isBreathing = false;
      if (!isEnding()) onRoom();
    });
  }

  /** Something is in the way. (IG1) */
  narrow(): void {
    const { parser, held, client, socket } = this.parts;
    const { heldBytes } = parser;
    const isMuch = heldBytes > client.face.parts.limits.maxPendingBytes;
    if (!isMuch && (heldBytes <= UNCOUNTED_BYTES || held.fits())) return;
    held.count();
    socket.pause();
  }

  /** Nothing is in the way, and commands that are whole have been taken. */
  open(): void {
    const { parser, held, socket } = this.parts;
    if (parser.heldBytes > UNCOUNTED_BYTES && !held.fits()) {
      this.#awaitRoom();
      return;
    }
    held.count();
    if (socket.isPaused() && !this.#isAwaitingRoom && !this.#isBreathing) socket.resume();
  }

  /** (IG2) */
  #awaitRoom(): void {
    const { socket, client, held, isEnding, onRoom, onRefused } = this.parts;
    held.count();
    socket.pause();
    const { grant, face } = client;
    if (grant === undefined) {
      onRefused(NO_MEMORY_FOR_STRANGERS);
      return;
    }
    if (this.#isAwaitingRoom) return;
    this.#isAwaitingRoom = true;
    const { database } = grant;
    const wait = face.room.wait(database, () => face.budget.hasRoom(database), isEnding);
    wait.then((hasRoom) => {
      this.#isAwaitingRoom = false;
      if (isEnding()) return;
      if (hasRoom) onRoom();
      else onRefused(NO_MEMORY);
    });
  }
}
