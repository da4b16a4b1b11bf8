/**
 * Requests for the same subject within one round of the event loop are sent in one message, and so are answers. A message
 * costs both processes and the server more than most commands.
 *
 *  BT1 a request is sent once, in a batch or alone. It is sent alone after a batch only if the server reported that the
 *      batch had no receiver, as with an owner of an earlier version
 *  BT2 a request is answered as soon as its answer is ready, and does not wait for others of its batch
 *  BT3 a batch is not larger than the largest message, or it is one request
 *  BT4 an invalid batch is dropped, like a request without a receiver
 */
import type { Msg } from 'nats';
import { bothWays, bytes, integer, listOf, record, type TypeOf } from '../../kernel/schema/index.js';
import type { Subscription } from '../../ports/index.js';
import { PIECE_BYTES } from './bulk-exchange.js';
import type { NatsLink } from './link.js';
import { LinkFailure } from './link-failure.js';
import { MORE } from './request-inbox.js';

/** For how long requests are sent singly after a batch had no receiver: the shard may move to a newer process in this time. */
const UNSERVED_FOR_MS = 1000;

/** A request or its answer, by the place of the request in its batch. */
const item = record({ place: integer, frame: bytes });
const [encodeItems, decodeItems] = bothWays(listOf(item), 'requests in one message', 'INVALID');

type Item = TypeOf<typeof item>;

/** BT4 */
function itemsOf(data: Uint8Array): readonly Item[] {
  try {
    return decodeItems(data);
  } catch {
    return [];
  }
}

interface PendingRequest {
  readonly frame: Uint8Array;
  readonly timeoutMs: number;
  readonly resolve: (frame: Uint8Array) => void;
  readonly reject: (failure: unknown) => void;
}

/** The subject of batches for a subject. */
function batchSubject(subject: string): string {
  return `${subject}.batch`;
}

/** The side of the callers. */
export class RequestBatches {
  readonly #comingBySubject = new Map<string, PendingRequest[]>();
  readonly #oneByOneUntilMs = new Map<string, number>();

  constructor(private readonly link: NatsLink) {}

  /** @returns the frame of the answer @throws only LinkFailure */
  request(subject: string, frame: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const asked = { frame, timeoutMs, resolve, reject };
      const coming = this.#comingBySubject.get(subject);
      if (coming !== undefined) {
        coming.push(asked);
        return;
      }
      this.#comingBySubject.set(subject, [asked]);
      setImmediate(() => this.#send(subject));
    });
  }

  #send(subject: string): void {
    const all = this.#comingBySubject.get(subject) ?? [];
    this.#comingBySubject.delete(subject);
    if (all.length === 1 || this.#goesOneByOne(subject)) {
      for (const asked of all) this.#sendAlone(subject, asked);
      return;
    }
    for (const batch of chunked(all)) this.#sendBatch(subject, batch);
  }

  #sendAlone(subject: string, { frame, timeoutMs, resolve, reject }: PendingRequest): void {
    this.link.send(subject, frame, { timeoutMs }, (answer) =>
      answer instanceof LinkFailure ? reject(answer) : resolve(answer.data),
    );
  }

  #sendBatch(subject: string, batch: readonly PendingRequest[]): void {
    const waiting = new Map(batch.entries());
    const payload = encodeItems(batch.map(({ frame }, place) => ({ place, frame })));
    const timeoutMs = Math.max(...batch.map((asked) => asked.timeoutMs));
    this.link.send(batchSubject(subject), payload, { timeoutMs }, (answer) => {
      if (!(answer instanceof LinkFailure)) {
        for (const { place, frame } of itemsOf(answer.data)) {
          waiting.get(place)?.resolve(frame);
          waiting.delete(place);
        }
        return waiting.size > 0 ? MORE : undefined;
      }
      if (answer.kind !== 'no-responders') {
        for (const { reject } of waiting.values()) reject(answer);
        return undefined;
      }
      this.#oneByOneUntilMs.set(subject, performance.now() + UNSERVED_FOR_MS);
      for (const asked of batch) this.#sendAlone(subject, asked);
      return undefined;
    });
  }

  #goesOneByOne(subject: string): boolean {
    const untilMs = this.#oneByOneUntilMs.get(subject);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    this.#oneByOneUntilMs.delete(subject);
    return false;
  }
}

/**
 * The side of the receiver.
 * @param answer returns the frame of the answer, or undefined for a frame that is not a request; does not reject
 * @param respond sends an answer; does not throw
 */
export function serveBatches(
  link: NatsLink,
  subject: string,
  answer: (frame: Uint8Array) => Promise<Uint8Array | undefined>,
  respond: (reply: string, bytes: Uint8Array) => void,
): Subscription {
  const readyByReply = new Map<string, Item[]>();
  const send = (reply: string) => {
    const ready = readyByReply.get(reply) ?? [];
    readyByReply.delete(reply);
    for (const items of chunked(ready)) respond(reply, encodeItems(items));
  };
  const add = (reply: string, place: number, frame: Uint8Array) => {
    const ready = readyByReply.get(reply);
    if (ready !== undefined) {
      ready.push({ place, frame });
      return;
    }
    readyByReply.set(reply, [{ place, frame }]);
    setImmediate(() => send(reply));
  };
  const subscription = link.subscribe(batchSubject(subject), ({ data, reply }: Msg) => {
    if (!reply) return;
    for (const { place, frame } of itemsOf(data)) {
      void answer(frame).then((answered) => {
        if (answered !== undefined) add(reply, place, answered);
      });
    }
  });
  return { stop: () => link.drain(subscription) };
}

/** BT3 */
function* chunked<T extends { readonly frame: Uint8Array }>(all: readonly T[]): Iterable<readonly T[]> {
  let chunk: T[] = [];
  let size = 0;
  for (const one of all) {
    if (size > 0 && size + one.frame.byteLength > PIECE_BYTES) {
      yield chunk;
      [chunk, size] = [[], 0];
    }
    chunk.push(one);
    size += one.frame.byteLength;
  }
  if (chunk.length > 0) yield chunk;
}
