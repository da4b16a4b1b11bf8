/**
 * The bus on plain NATS: requests and notices between processes, not stored. Subscriptions have no queue group, because
 * a shard's owner is one process, which the journal determines. A command that may go to a single process goes to a
 * neighbour, which is another process of this machine, without NATS.
 */
import type { Msg } from 'nats';
import { describeError, MillraceError, type ShardName, unreachable } from '../../kernel/index.js';
import type { Bus, Log, NeighbourAddress, Reach, ServedTopic, Subscription, Topic } from '../../ports/index.js';
import { BulkExchange, PIECE_BYTES } from './bulk-exchange.js';
import { type BusFrame, decodeFrame, encodeFailure, encodeOffer, encodePayload } from './bus-frames.js';
import type { NatsConnections } from './connection.js';
import type { NatsLink } from './link.js';
import { LinkFailure } from './link-failure.js';
import { type NeighbourAnswer, type NeighbourOutcome, Neighbours } from './neighbours/index.js';
import { RequestBatches, serveBatches } from './request-batches.js';
import type { Names } from './subjects.js';

export interface NatsBusOptions {
  /** The largest payload, 64 MiB by default: more than the largest command and reply. */
  readonly maxBytes?: number;
  /** Logs dropped messages. */
  readonly log?: Log;
  /** For processes of this machine: the directory of its socket, and the machine's id. Undefined: only NATS is used. */
  readonly near?: { readonly dataDir: string; readonly machine: string } | undefined;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
/** How long a large payload is kept for its receivers, and a piece of it waited for. */
const REASSEMBLY_TIMEOUT_MS = 10_000;
/** Messages of a subscription that may wait for a large one; further ones are lost, which the bus permits. */
const WAITING_MESSAGES = 10_000;

export class NatsBus implements Bus {
  readonly #link: NatsLink;
  readonly #bulk: BulkExchange;
  readonly #batches: RequestBatches;
  readonly #log: Log | undefined;
  readonly #neighbours: Neighbours | undefined;
  /** Subjects of commands, which are needed for each. */
  readonly #subjects = new Map<string, string>();

  constructor(
    connections: Pick<NatsConnections, 'control'>,
    private readonly names: Names,
    options: NatsBusOptions = {},
  ) {
    this.#link = connections.control;
    this.#log = options.log;
    const isConnected = () => this.#link.isConnected();
    this.#neighbours = options.near && new Neighbours({ ...options.near, isConnected, log: options.log });
    this.#batches = new RequestBatches(this.#link);
    this.#bulk = new BulkExchange(this.#link, names, {
      maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
      timeoutMs: REASSEMBLY_TIMEOUT_MS,
    });
  }

  isConnected(): boolean {
    return this.#link.isConnected();
  }

  /** @throws INVALID when the payload is too large */
  publish(topic: Topic, payload: Uint8Array): void {
    this.#link.publish(this.names.topic(topic), this.#frameOf(payload, 'many').frame);
  }

  subscribe(topic: Topic, onMessage: (payload: Uint8Array) => void): Subscription {
    let isStopped = false;
    let waiting = 0;
    let last: Promise<void> = Promise.resolve();
    const deliver = (payload: Uint8Array): void => {
      if (!isStopped) onMessage(payload);
    };
    const receive = (message: Msg): void => {
      const frame = this.#decode(topic, message.data);
      if (frame === undefined) return;
      if (frame.kind === 'payload' && waiting === 0) {
        deliver(frame.payload);
        return;
      }
      if (waiting >= WAITING_MESSAGES) {
        this.#log?.warn('bus.message-dropped', {
          topic: topic.kind,
          reason: 'too many messages wait after a large one',
        });
        return;
      }
      // Delivered in the order of sending, also after one with pieces in transit.
      waiting += 1;
      const payload = this.#payloadOf(frame);
      payload.catch(() => {}); // reported below, in its order
      last = last.then(async () => {
        const arrived = await payload.catch((error: unknown) => {
          this.#log?.warn('bus.message-dropped', { topic: topic.kind, reason: describeError(error) });
        });
        waiting -= 1;
        if (arrived instanceof Uint8Array) deliver(arrived);
      });
    };
    const subscription = this.#link.subscribe(this.names.topic(topic), receive);
    return {
      stop: () => {
        isStopped = true;
        if (!this.#link.raw.isClosed()) subscription.unsubscribe();
      },
    };
  }

  /** The number of processes of this machine that are reached without NATS. */
  get neighbours(): number {
    return this.#neighbours?.size ?? 0;
  }

  get address(): NeighbourAddress | undefined {
    return this.#neighbours?.address;
  }

  meet(address: NeighbourAddress): void {
    this.#neighbours?.meet(address);
  }

  request(topic: Topic, payload: Uint8Array, timeoutMs: number, reach: Reach = 'all'): Promise<Uint8Array> {
    const neighbours = this.#neighbours;
    if (neighbours === undefined || reach === 'all' || topic.kind !== 'command' || payload.length > PIECE_BYTES) {
      return this.#requestAll(topic, payload, timeoutMs);
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: NeighbourOutcome): void => {
        switch (outcome.kind) {
          case 'answer':
            resolve(outcome.body);
            break;
          case 'other':
            this.#answerIn(outcome.body, timeoutMs, topic).then(resolve, reject);
            break;
          case 'unserved':
            this.#requestAll(topic, payload, timeoutMs).then(resolve, reject);
            break;
          case 'lost':
            reject(new MillraceError('TIMED_OUT', outcome.reason, { topic: topic.kind }));
            break;
          default:
            unreachable(outcome);
        }
      };
      if (neighbours.request(this.#commandSubject(topic.shard), payload, timeoutMs, settle)) return;
      this.#requestAll(topic, payload, timeoutMs).then(resolve, reject);
    });
  }

  #commandSubject(shard: ShardName): string {
    let subject = this.#subjects.get(shard);
    if (subject === undefined) {
      subject = this.names.topic({ kind: 'command', shard });
      this.#subjects.set(shard, subject);
    }
    return subject;
  }

  async #requestAll(topic: Topic, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const { frame, release } = this.#frameOf(payload, 'one');
    const deadlineMs = performance.now() + timeoutMs;
    try {
      const answer = await this.#send(topic, frame, timeoutMs);
      return await this.#answerIn(answer, deadlineMs - performance.now(), topic);
    } catch (error) {
      throw error instanceof LinkFailure ? failureOfRequest(error, topic) : error;
    } finally {
      release();
    }
  }

  async #answerIn(frame: Uint8Array, timeoutMs: number, topic: Topic): Promise<Uint8Array> {
    const answer = decodeFrame(frame);
    if (answer.kind === 'failure') throw answer.error;
    if (answer.kind === 'payload') return answer.payload;
    return within(this.#bulk.fetch(answer.offer), timeoutMs, topic);
  }

  /** Commands are many and small; other requests are rare. */
  async #send(topic: Topic, frame: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const subject = this.names.topic(topic);
    if (topic.kind === 'command') return this.#batches.request(subject, frame, timeoutMs);
    return (await this.#link.request(subject, frame, { timeoutMs })).data;
  }

  serve(topic: Topic, onRequest: (payload: Uint8Array) => Promise<Uint8Array>): ServedTopic {
    const subject = this.names.topic(topic);
    const answer = (bytes: Uint8Array) => this.#answer(topic, bytes, onRequest);
    const respond = (reply: string, bytes: Uint8Array) => this.#respond(topic, reply, bytes);
    const batches = topic.kind === 'command' ? serveBatches(this.#link, subject, answer, respond) : undefined;
    const subscription = this.#link.subscribe(subject, ({ data, reply }) => {
      if (reply) void answer(data).then((frame) => frame !== undefined && respond(reply, frame));
    });
    const endDirect =
      topic.kind === 'command'
        ? this.#neighbours?.serve(subject, (payload) => this.#answerDirectly(payload, onRequest))
        : undefined;
    return {
      yield: () => endDirect?.(),
      stop: () => {
        endDirect?.();
        batches?.stop();
        this.#link.drain(subscription);
      },
    };
  }

  #answerDirectly(
    payload: Uint8Array,
    onRequest: (payload: Uint8Array) => Promise<Uint8Array>,
  ): Promise<NeighbourAnswer> {
    return onRequest(payload).then(
      (body): NeighbourAnswer =>
        body.length <= PIECE_BYTES ? { kind: 'answer', body } : { kind: 'other', body: this.#answerFrame(body) },
      (error: unknown): NeighbourAnswer => ({ kind: 'other', body: encodeFailure(error) }),
    );
  }

  #answerFrame(payload: Uint8Array): Uint8Array {
    try {
      return this.#frameOf(payload, 'one').frame;
    } catch (error) {
      return encodeFailure(error);
    }
  }

  /** Drops payloads kept for receivers, and ends connections to neighbours. The owners of subscriptions stop them. */
  async close(): Promise<void> {
    this.#bulk.stop();
    await this.#neighbours?.close();
  }

  /** @returns the answer's frame; undefined when the message is no request */
  async #answer(
    topic: Topic,
    bytes: Uint8Array,
    onRequest: (payload: Uint8Array) => Promise<Uint8Array>,
  ): Promise<Uint8Array | undefined> {
    const frame = this.#decode(topic, bytes);
    if (frame === undefined) return undefined;
    let payload: Uint8Array;
    try {
      payload = frame.kind === 'payload' ? frame.payload : await this.#payloadOf(frame);
    } catch (cause) {
      // It was not passed on, so it was certainly not executed.
      const failure = new MillraceError('SHARD_UNAVAILABLE', 'a large request did not arrive', {}, cause);
      return encodeFailure(cause instanceof MillraceError && !cause.retryable ? cause : failure);
    }
    return onRequest(payload).then((answered) => this.#answerFrame(answered), encodeFailure);
  }

  #respond(topic: Topic, reply: string, bytes: Uint8Array): void {
    try {
      this.#link.publish(reply, bytes);
    } catch (error) {
      this.#log?.warn('bus.answer-dropped', { topic: topic.kind, reason: describeError(error) });
    }
  }

  #payloadOf(frame: BusFrame): Promise<Uint8Array> {
    switch (frame.kind) {
      case 'payload':
        return Promise.resolve(frame.payload);
      case 'offer':
        return this.#bulk.fetch(frame.offer);
      case 'failure':
        return Promise.reject(frame.error);
      default:
        return unreachable(frame);
    }
  }

  #frameOf(payload: Uint8Array, receivers: 'one' | 'many'): { frame: Uint8Array; release: () => void } {
    if (payload.byteLength <= PIECE_BYTES) return { frame: encodePayload(payload), release: () => {} };
    const { offer, release } = this.#bulk.keep(payload, receivers);
    return { frame: encodeOffer(offer), release };
  }

  #decode(topic: Topic, bytes: Uint8Array): BusFrame | undefined {
    try {
      return decodeFrame(bytes);
    } catch (error) {
      this.#log?.warn('bus.message-dropped', { topic: topic.kind, reason: describeError(error) });
      return undefined;
    }
  }
}

function failureOfRequest(failure: LinkFailure, topic: Topic): MillraceError {
  const details = { topic: topic.kind };
  if (failure.kind === 'no-responders' || failure.kind === 'not-sent' || failure.kind === 'refused') {
    return new MillraceError(
      'SHARD_UNAVAILABLE',
      'no process serves this subject',
      { ...details, isUnserved: true },
      failure,
    );
  }
  return new MillraceError('TIMED_OUT', 'no answer in time', details, failure);
}

async function within<T>(promise: Promise<T>, timeoutMs: number, topic: Topic): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = 'the pieces of an answer did not come in time';
    const failure = new MillraceError('TIMED_OUT', message, { topic: topic.kind });
    timer = setTimeout(() => reject(failure), Math.max(1, timeoutMs));
  });
  promise.catch(() => {}); // its caller has stopped waiting
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
