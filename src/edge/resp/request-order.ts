/**
 * The order of one connection's requests, of which several may be with their owner at once.
 *
 *  ROR1 one that was asked for behind others runs only if each of them has run to its end: else it comes back not run,
 *       and is asked for again when it is the first
 *  ROR2 the first may always run; it alone is tried again by itself when it has surely not been executed
 *  ROR3 once one of them did not go its way nothing more is asked for behind it, until all have been answered
 */
import type { RequestPlace } from '../../messages/index.js';

export class RequestOrder {
  /** Numbers of the last that was asked for, that has run to its end, that was answered to its end. */
  asked = 0;
  ran = 0;
  answered = 0;
  /** (ROR3) */
  isBroken = false;

  next(): PlaceInOrder {
    this.asked += 1;
    return new PlaceInOrder(this, this.asked);
  }
}

export class PlaceInOrder implements RequestPlace {
  /** Its owner has it: what comes behind it may be asked for. */
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

  /** It was answered to its end. */
  close(): void {
    const { order, number } = this;
    order.answered = number;
    if (order.ran < number) order.ran = number;
    if (order.answered === order.asked) order.isBroken = false;
  }
}
