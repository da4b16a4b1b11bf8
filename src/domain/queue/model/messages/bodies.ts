/**
 * The bodies of an account: their numbers, their references, and the bytes that count as held. The bytes themselves
 * are stored elsewhere.
 */
import type { BodyRef, CarriedBody } from '../records.js';
import { BodyReferences } from './body-references.js';

/** Stores the bytes of bodies and is told when they are no longer needed. The state holds numbers only. */
export interface BodySink {
  put(number: number, content: Uint8Array): void;
  drop(number: number): void;
  /** The body will not be sent again; a sink that can read it back may drop it from memory. */
  unload?(number: number): void;
  /** The body will not be sent for a long time; once it is stored it may leave memory. */
  rest?(number: number): void;
}

/** The bodies that the state refers to, each counted once: HE2 (bytes are those of bodies, each once). */
class HeldBodies {
  readonly #references = new BodyReferences();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(number: number, bytes: number): void {
    if (this.#references.add(number)) this.#bytes += bytes;
  }

  remove(number: number, bytes: number): void {
    if (this.#references.remove(number)) this.#bytes -= bytes;
  }
}

export class Bodies {
  /** The next free number. */
  next = 1;
  readonly #references = new BodyReferences();
  readonly #held = new HeldBodies();

  constructor(private readonly sink: BodySink) {}

  get heldBytes(): number {
    return this.#held.bytes;
  }

  /** Whether the state refers to the body. */
  isNeeded(number: number): boolean {
    return this.#references.isNeeded(number);
  }

  /** The record of a new body in an event: the next free number, or 0 for an empty body. */
  carried(content: Uint8Array): CarriedBody {
    const bytes = content.byteLength;
    return bytes === 0 ? { number: 0, bytes, content: undefined } : { number: this.next, bytes, content };
  }

  take(body: CarriedBody): void {
    this.hold(body);
    this.store(body);
  }

  hold({ number, bytes }: BodyRef): void {
    this.#references.add(number);
    this.#held.add(number, bytes);
  }

  store({ number, content }: CarriedBody): void {
    if (number >= this.next) this.next = number + 1;
    if (number > 0 && content !== undefined) this.sink.put(number, content);
  }

  drop(body: BodyRef): void {
    this.countNoMore(body);
    this.letGo(body.number);
  }

  /** HE1 (messages count until they end): the body stays readable for a while and no longer counts. */
  countNoMore({ number, bytes }: BodyRef): void {
    this.#held.remove(number, bytes);
  }

  /** Only if this is the only reference. */
  unload(number: number): void {
    if (!this.#references.isShared(number)) this.sink.unload?.(number);
  }

  /** Even if the body is shared: the other reference is usually the run of the same message. */
  rest(number: number): void {
    if (number > 0) this.sink.rest?.(number);
  }

  letGo(number: number): void {
    if (this.#references.remove(number)) this.sink.drop(number);
  }
}
