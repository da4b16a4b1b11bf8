/**
 * The requests of one connection that are asked for and not answered to their end, in order. Answers leave in that order;
 * what a request holds is bounded by how many there are, and what they answer by how little is asked for behind others.
 */

import type { RespBatch } from './command-batch.js';
import { RequestOrder } from './request-order.js';
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
   * May one more be asked for behind them? Not where answers depend on more than their order: who listens is told between
   * answers, and a database of several partitions has several owners.
   */
  get mayGrow(): boolean {
    const { client } = this;
    const { maxRequestsUnderWay, maxBatchCommands, maxBatchBytes, pauseOutputBytes } = client.face.parts.limits;
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

  /** In memory: of what may still have to be run, and of answers that wait for those in front of them. */
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

  /** One that was answered in part holds up those behind it. */
  noteAnswer(request: RespBatch): void {
    request.isAnswered = true;
    if (request.hasRest) request.place?.hasFailed();
  }

  removeFirst(): void {
    this.#requests.shift()?.place?.close();
  }

  /** Nobody is answered any more. */
  clear(): void {
    this.#requests.length = 0;
    this.#order.isBroken = true;
  }
}
