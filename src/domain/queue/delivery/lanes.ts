/**
 * Data structures of the dispatcher: lanes of messages that wait for the same resources, lists of lanes, and gates
 * where lanes park. A lane is in at most one list: the wheel's, or a gate's.
 */
import type { HeapItem } from '../collections/indexed-heap.js';
import type { Message, WaitingLine } from '../model/messages/message.js';
import type { FlowKey } from '../model/state/flow-key.js';
import { ClassedMessages } from './classed-messages.js';

/**
 * Kinds of lanes:
 * - message: no queue; same flow-control key and origin
 * - line: messages of a queue without a place yet, strictly in order
 * - holder: messages of a queue with a place: retries
 * - restart: attempts that a crash interrupted; they have their tokens and places
 */
export type LaneKind = 'message' | 'line' | 'holder' | 'restart';

export class Lane implements WaitingLine {
  readonly messages: ClassedMessages;
  list: LaneList | undefined;
  previous: Lane | undefined;
  next: Lane | undefined;
  /** The gate of the origin where the lane is parked. */
  parkedAt: OriginGate | undefined;
  /** The gate that woke the lane; after the lane's turn the gate's next lane is looked at. */
  wokenBy: FlowGate | OriginGate | undefined;

  constructor(
    readonly key: string,
    readonly kind: LaneKind,
    private readonly left: (lane: Lane, message: Message) => void,
  ) {
    this.messages = new ClassedMessages(kind === 'line' ? isAcceptedBefore : isDueBefore);
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

export function isAcceptedBefore(a: Message, b: Message): boolean {
  return a.order < b.order;
}

/** First in, first out; any lane leaves in constant time. */
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

/** The gate of a flow-control key. */
export class FlowGate implements HeapItem {
  readonly parked = new LaneList();
  /** Restarts already have tokens: only the window and a pause block them. */
  readonly parkedRestarts = new LaneList();
  /** Due messages of the key in lanes. */
  waiting = 0;
  /** The end of the window, while the gate is in the heap of windows. */
  wakeAtMs = 0;
  heapIndex = -1;

  constructor(readonly flow: FlowKey) {}
}

/** The result of an origin's last call: any answer, none, or no call yet. */
export type Standing = 'answers' | 'silent' | 'untried';

/** The gate of an origin: lanes wait here for a larger share of the places, or for fewer open calls of the origin. */
export class OriginGate implements HeapItem {
  readonly parked = new LaneList();
  inFlight = 0;
  /** Woken lanes that have not had their turn. */
  woken = 0;
  /** The number of its last wake-up; lower numbers go first. */
  turn = 0;
  heapIndex = -1;
  /** Lanes are parked here, or calls are open. */
  isKept = false;

  constructor(
    readonly origin: string,
    public standing: Standing,
  ) {}

  get taken(): number {
    return this.inFlight + this.woken;
  }
}
