/**
 * The unanswered requests of one connection, in order. Their answers are written in that order. Their memory is
 * bounded by their number and by the small portions of those that are sent early.
 */

import { RequestOrder } from './request-order.js';
import type { RespBatch } from './resp-batch.js';
import type { RespClient } from './resp-client.js';

export class RequestsUnderWay {
  readonly #requests: RespBatch[] = [];
  readonly #order = new RequestOrder();

  constructor(private readonly client: RespClient) {}

  get isEmpty(): boolean {
    return this.#requests.length === 0;
  }

  get first(): RespBatch | undefined {
    return this.#requests[0];
  }

  /**
   * May another request be sent early? Not for a client with subscriptions, which gets messages between answers, nor
   * for a database of several partitions, which has several owners.
   */
  get mayGrow(): boolean {
    const { client } = this;
    const { maxRequestsUnderWay, maxBatchCommands, maxBatchBytes, pauseOutputBytes } = client.endpoint.parts.limits;
    if (this.#requests.length >= maxRequestsUnderWay || this.#order.isBroken) return false;
    if (this.#requests.at(-1)?.place?.isHandedOn !== true) return false;
    if (client.grant?.partitions.length !== 1 || client.isTold) return false;
    let commands = 0;
    let bytes = 0;
    let answerBytes = 0;
    for (const request of this.#requests) {
      commands += request.commands.length;
      bytes += request.bytes;
      answerBytes += request.answerBytes;
    }
    return commands < maxBatchCommands && bytes < maxBatchBytes && answerBytes < pauseOutputBytes;
  }

  /** Memory of commands that may still run, and of answers that wait for earlier ones. */
  get heldBytes(): number {
    let bytes = 0;
    for (const request of this.#requests) {
      if (request.hasRest || !request.isAnswered) bytes += request.heldBytes;
      if (request.settled !== undefined) bytes += request.answerBytes;
    }
    return bytes;
  }

  add(request: RespBatch): void {
    request.place = this.#order.next();
    request.isBehind = this.#requests.length > 0;
    if (request.isEmpty) request.place.handedOn();
    this.#requests.push(request);
  }

  /** A partly answered request holds up the later ones. */
  noteAnswer(request: RespBatch): void {
    request.isAnswered = true;
    if (request.hasRest) request.place?.hasFailed();
  }

  removeFirst(): void {
    this.#requests.shift()?.place?.close();
  }

  /** Drops all requests without answers. */
  clear(): void {
    this.#requests.length = 0;
    this.#order.isBroken = true;
  }
}
