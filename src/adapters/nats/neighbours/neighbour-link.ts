/**
 * One connection to another process of this machine, over which both send requests for the topics that the other one
 * serves.
 *
 *  NBL1 a request is sent once. `unserved` means that it was not received; every other end without an answer, as with
 *      the loss of the connection, leaves the outcome unknown
 *  NBL2 memory is bounded by the bytes that the other process does not read: then it gets no further requests, its own are
 *      answered `unserved`, and above `MAX_UNSENT_BYTES` it is disconnected
 *  NBL3 a process that owes an answer and has been silent for `SILENCE_MS` gets no requests until it gives a sign of life
 */
import type { Socket } from 'node:net';
import { describeError } from '../../../kernel/index.js';
import { type WaitingRequest, WaitingRequests } from '../waiting-requests.js';
import { FrameReader, FrameWriter, KIND, type NeighbourFrame } from './neighbour-frames.js';

/** The end of a request. `other`: a frame of the bus; `lost`: the outcome is unknown. */
export type NeighbourOutcome =
  | { readonly kind: 'answer' | 'other'; readonly body: Uint8Array }
  | { readonly kind: 'unserved' }
  | { readonly kind: 'lost'; readonly reason: string };

export interface NeighbourAnswer {
  readonly kind: 'answer' | 'other';
  readonly body: Uint8Array;
}

/** Answers a request for a topic; undefined: the topic is not served. Does not reject. */
export type AnswerNeighbour = (topic: number, payload: Uint8Array) => Promise<NeighbourAnswer> | undefined;

/** With more unsent bytes, no further request is sent or accepted. */
const MUCH_UNSENT_BYTES = 4 * 1024 * 1024;
/** Answers to accepted requests, whose number the mailboxes bound; a process that reads none of this is broken. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;
const SILENCE_MS = 150;
const NOTHING = new Uint8Array();
const UNSERVED: NeighbourOutcome = { kind: 'unserved' };

interface NeighbourRequest extends WaitingRequest {
  readonly settle: (outcome: NeighbourOutcome) => void;
}

export interface LinkEvents {
  readonly answer: AnswerNeighbour;
  /** The first frame of a process that has connected. @returns false when it is not accepted */
  onGreeting(version: number, body: Buffer): boolean;
  /** The other process serves a subject from now on under this number; undefined: no more. */
  onTopic(number: number, subject: string | undefined): void;
  onEnd(reason: string): void;
}

export class NeighbourLink {
  readonly #writer: FrameWriter;
  readonly #waiting: WaitingRequests<NeighbourRequest>;
  /** The first frame sent after the last one that was received; undefined: all were followed by one. */
  #unheardSinceMs: number | undefined;
  #isPinged = false;
  #reason = 'the connection was closed';

  constructor(
    private readonly socket: Socket,
    private readonly events: LinkEvents,
    /** False for a process that has connected to this one: its first frame has to be a greeting. */
    private isGreeted: boolean,
  ) {
    this.#writer = new FrameWriter(socket);
    this.#waiting = new WaitingRequests((overdue) => {
      for (const { settle } of overdue) settle({ kind: 'lost', reason: 'no answer in time' });
    });
    const reader = new FrameReader((frame) => this.#receive(frame));
    socket.on('data', (chunk: Buffer) => {
      this.#unheardSinceMs = undefined;
      this.#isPinged = false;
      try {
        reader.push(chunk);
      } catch (error) {
        this.close(describeError(error));
      }
    });
    socket.on('error', (error) => {
      this.#reason = describeError(error);
    });
    socket.on('close', () => {
      const reason = this.#reason;
      for (const { settle } of this.#waiting.takeAll()) settle({ kind: 'lost', reason });
      events.onEnd(reason);
    });
  }

  /** False while the other process does not read or is silent (NBL2, NBL3). */
  get isPrompt(): boolean {
    if (this.socket.destroyed || this.#waiting.isFull || this.#writer.unsentBytes > MUCH_UNSENT_BYTES) return false;
    if (this.#unheardSinceMs === undefined || performance.now() - this.#unheardSinceMs < SILENCE_MS) return true;
    if (!this.#isPinged) {
      this.#isPinged = true;
      this.#writer.write(KIND.ping, 0, NOTHING);
    }
    return false;
  }

  /** @param topic  by the number that the other process has given it */
  request(topic: number, payload: Uint8Array, timeoutMs: number, settle: (outcome: NeighbourOutcome) => void): void {
    if (this.socket.destroyed) {
      settle(UNSERVED);
      return;
    }
    const nowMs = performance.now();
    this.#unheardSinceMs ??= nowMs;
    const number = this.#waiting.add({ settle, endMs: nowMs + timeoutMs });
    this.#writer.write(KIND.request, number, payload, topic);
  }

  /** @param subject  undefined: it is no longer served */
  announce(topic: number, subject: string | undefined): void {
    if (subject === undefined) this.#writer.write(KIND.unserve, topic, NOTHING);
    else this.#writer.write(KIND.serve, topic, Buffer.from(subject, 'latin1'));
  }

  /** Requests that wait have an unknown outcome. */
  close(reason: string): void {
    this.#reason = reason;
    this.socket.destroy();
  }

  /** The first frame to a process that this one has connected to. */
  greet(version: number, body: Uint8Array): void {
    this.#writer.write(KIND.hello, version, body);
  }

  #receive({ kind, number, topic, body }: NeighbourFrame): void {
    if (!this.isGreeted) {
      this.isGreeted = kind === KIND.hello && this.events.onGreeting(number, body);
      if (!this.isGreeted) this.close('it was not greeted');
      return;
    }
    switch (kind) {
      case KIND.request:
        this.#answer(number, topic, body);
        return;
      case KIND.answer:
        this.#waiting.take(number)?.settle({ kind: 'answer', body });
        return;
      case KIND.other:
        this.#waiting.take(number)?.settle({ kind: 'other', body });
        return;
      case KIND.unserved:
        this.#waiting.take(number)?.settle(UNSERVED);
        return;
      case KIND.serve:
        this.events.onTopic(number, body.toString('latin1'));
        return;
      case KIND.unserve:
        this.events.onTopic(number, undefined);
        return;
      case KIND.ping:
        this.#writer.write(KIND.pong, 0, NOTHING);
        return;
      case KIND.pong:
        return;
      default:
        this.close(`a frame of the unknown kind ${kind}`);
    }
  }

  #answer(number: number, topic: number, body: Buffer): void {
    const isTooMuch = this.#writer.unsentBytes > MUCH_UNSENT_BYTES;
    const answer = isTooMuch ? undefined : this.events.answer(topic, body);
    if (answer === undefined) {
      this.#respond(KIND.unserved, number, NOTHING);
      return;
    }
    void answer.then((answered) => this.#respond(KIND[answered.kind], number, answered.body));
  }

  #respond(kind: number, number: number, body: Uint8Array): void {
    if (this.socket.destroyed) return;
    if (this.#writer.unsentBytes > MAX_UNSENT_BYTES) this.close('it does not read its answers');
    else this.#writer.write(kind, number, body);
  }
}
