/**
 * The bodies of an account: numbers, which of them something refers to, and how many bytes of them count as held. Their
 * content is elsewhere.
 */
import { HeldBodies } from '../accounts/held.js';
import type { BodyRef, CarriedBody } from '../records.js';
import { BodyReferences } from './body-references.js';

/** Where the bytes of bodies go, and when they are needed no more. The state itself holds numbers. */
export interface BodySink {
  put(number: number, content: Uint8Array): void;
  drop(number: number): void;
  /** Nothing will send it any more; a sink that can read it back for whoever asks need not hold it. */
  unload?(number: number): void;
  /** Nothing will send it for long; the same, from when it is stored. */
  rest?(number: number): void;
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

  /** Is it referred to by anything? */
  isNeeded(number: number): boolean {
    return this.#references.isNeeded(number);
  }

  /** What an event carries of a new body: it gets the next free number; the empty one is number 0. */
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

  /** HE1: it is still there for a while, and does not count any more. */
  countNoMore({ number, bytes }: BodyRef): void {
    this.#held.remove(number, bytes);
  }

  /** Unless something else refers to it too. */
  unload(number: number): void {
    if (!this.#references.isShared(number)) this.sink.unload?.(number);
  }

  /** Also for whoever else refers to it: mostly the run of the message that waits. */
  rest(number: number): void {
    if (number > 0) this.sink.rest?.(number);
  }

  letGo(number: number): void {
    if (this.#references.remove(number)) this.sink.drop(number);
  }
}
