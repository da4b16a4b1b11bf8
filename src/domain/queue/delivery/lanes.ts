/**
 * What the dispatcher turns in: lanes of messages that wait for the same things, lists of lanes, and gates at which
 * lanes park. A lane stands in one list at most: the wheel's, or a gate's.
 */
import { type HeapItem, IndexedHeap } from '../collections/indexed-heap.js';
import type { FlowKey } from '../flow-control/flow-key.js';
import type { Message, WaitingLine } from '../messages/message.js';

/**
 *  message  of no queue: alike in flow-control key and origin
 *  line     of a queue, without a place yet: strictly in order
 *  holder   of a queue, with a place: retries
 *  restart  with an attempt that a crash interrupted: they have their tokens and places
 */
export type LaneKind = 'message' | 'line' | 'holder' | 'restart';

export class Lane implements WaitingLine {
  readonly messages: IndexedHeap<Message>;
  list: LaneList | undefined;
  previous: Lane | undefined;
  next: Lane | undefined;
  /** The origin's gate that it is parked at. */
  parkedAt: OriginGate | undefined;
  /** Which gate let it go; owed a look for the next in its list. */
  wokenBy: FlowGate | OriginGate | undefined;

  constructor(
    readonly key: string,
    readonly kind: LaneKind,
    private readonly left: (lane: Lane, message: Message) => void,
  ) {
    this.messages = new IndexedHeap(kind === 'line' ? isAcceptedBefore : isDueBefore);
  }

  leave(message: Message): void {
    this.messages.delete(message);
    message.waitsIn = undefined;
    this.left(this, message);
  }
}

export function isDueBefore(a: Message, b: Message): boolean {
  return a.isDueBefore(b);
}

function isAcceptedBefore(a: Message, b: Message): boolean {
  return a.order < b.order;
}

/** First in, first out; any leaves at once. */
export class LaneList {
  #first: Lane | undefined;
  #last: Lane | undefined;

  get first(): Lane | undefined {
    return this.#first;
  }

  push(lane: Lane): void {
    lane.list = this;
    lane.previous = this.#last;
    lane.next = undefined;
    if (this.#last === undefined) this.#first = lane;
    else this.#last.next = lane;
    this.#last = lane;
  }

  delete(lane: Lane): void {
    if (lane.previous === undefined) this.#first = lane.next;
    else lane.previous.next = lane.next;
    if (lane.next === undefined) this.#last = lane.previous;
    else lane.next.previous = lane.previous;
    lane.list = undefined;
    lane.previous = undefined;
    lane.next = undefined;
  }
}

/** Where lanes wait for a flow-control key. */
export class FlowGate implements HeapItem {
  readonly parked = new LaneList();
  /** They have their tokens: only the window and a pause hold them. */
  readonly parkedRestarts = new LaneList();
  /** Due messages of the key that stand in lanes. */
  waiting = 0;
  /** When it is in the heap of windows that end. */
  wakeAtMs = 0;
  heapIndex = -1;

  constructor(readonly flow: FlowKey) {}
}

/** What is known of an origin: its last call got an answer, any; it got none; there has been no call. */
export type Standing = 'answers' | 'silent' | 'untried';

/** Where lanes wait for their origin to have a larger share of the places, or fewer calls in flight. */
export class OriginGate implements HeapItem {
  readonly parked = new LaneList();
  inFlight = 0;
  /** Lanes that it let go and that have not had their turn. */
  woken = 0;
  /** When it last let one go, by number. */
  turn = 0;
  heapIndex = -1;
  /** Something is under way or parked. */
  isKept = false;

  constructor(
    readonly origin: string,
    public standing: Standing,
  ) {}

  get taken(): number {
    return this.inFlight + this.woken;
  }
}
