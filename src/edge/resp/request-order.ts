/**
 * The order of one connection's requests, several of which may be at their owner at the same time.
 *
 *  ROR1 a request that was sent before earlier ones were answered runs only if each of them has run completely;
 *       otherwise it returns without having run and is sent again when it is the first
 *  ROR2 the first request may always run, and only it is retried automatically when it surely did not run
 *  ROR3 after a request failed to run completely, no further one is sent until all have been answered
 */
import type { RequestPlace } from '../../protocol/index.js';

export class RequestOrder {
  /** Numbers of the last request that was sent, that ran completely, that was answered completely. */
  asked = 0;
  ran = 0;
  answered = 0;
  /** No further request is sent, because one failed to run completely (ROR3). */
  isBroken = false;

  next(): PlaceInOrder {
    this.asked += 1;
    return new PlaceInOrder(this, this.asked);
  }
}

export class PlaceInOrder implements RequestPlace {
  /** The owner has it: the next request may be sent. */
  isHandedOn = false;

  constructor(
    private readonly order: RequestOrder,
    private readonly number: number,
  ) {}

  handedOn(): void {
    this.isHandedOn = true;
  }

  mayRun(): boolean {
    const { order, number } = this;
    return number === order.answered + 1 || (!order.isBroken && number === order.ran + 1);
  }

  hasRun(): void {
    this.order.ran = this.number;
  }

  hasFailed(): boolean {
    this.order.isBroken = true;
    return this.number === this.order.answered + 1;
  }

  /** It was answered completely. */
  close(): void {
    const { order, number } = this;
    order.answered = number;
    if (order.ran < number) order.ran = number;
    if (order.answered === order.asked) order.isBroken = false;
  }
}
