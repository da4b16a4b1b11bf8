/**
 * Chooses the next message to start. It is derived from the state and never stored: `prepare` builds it, and the
 * state's calls keep it current.
 *
 *  DI1 an awake message waits in one place: the delay line, the overdue line, a lane, or the line of a stopped
 *      destination
 *  DI2 lanes that may continue are in the wheel and start one message per turn, so that every key, origin and queue
 *      gets its share; a blocked lane parks at the gate that blocks it and costs no work until the gate opens
 *  DI3 a gate with room wakes one lane, and each woken lane wakes the next while room is left; so no change costs
 *      more than one step
 *  DI4 queues start strictly in order of acceptance as soon as messages are due; retries already have their places
 */
import { IndexedHeap } from '../collections/indexed-heap.js';
import type { FlowView } from '../model/commands.js';
import { ACTIVE, DELIVERED, type Message } from '../model/messages/message.js';
import type { DispatchHooks } from '../model/state/dispatch-hooks.js';
import type { FlowKey } from '../model/state/flow-key.js';
import type { OrderedQueue } from '../model/state/ordered-queues.js';
import type { QueueState } from '../model/state/queue-state.js';
import { DelayLine, OverdueLine } from './delay-line.js';
import { FlowGate, Lane, type LaneKind, LaneList, type OriginGate, type Standing } from './lanes.js';
import { OriginShares } from './origin-shares.js';
import { StoppedLines } from './stopped-lines.js';

/** Messages that one call of `run` releases, and lanes that it looks at: about 1 ms. */
const RELEASED_AT_ONCE = 1000;
const LOOKS_AT_ONCE = 1000;

/** Starts the attempt; false if the message ended instead. */
export type Start = (message: Message) => boolean;

export interface StartAllowance {
  /** Attempts that may start now. */
  readonly attempts: number;
  /** Open attempts that the account may have. */
  readonly parallelism: number;
  /** Attempts that the process has room for; `attempts` limits one step. */
  readonly spare: number;
}

export class Dispatcher implements DispatchHooks {
  readonly #delayed = new DelayLine();
  readonly #overdue: OverdueLine;
  readonly #lanes = new Map<string, Lane>();
  readonly #wheel = new LaneList();
  readonly #restarts = new LaneList();
  readonly #flowGates = new Map<string, FlowGate>();
  readonly #origins: OriginShares;
  readonly #stopped: StoppedLines;
  readonly #queueGates = new Map<OrderedQueue, LaneList>();
  readonly #windows = new IndexedHeap<FlowGate>(
    (a, b) => a.wakeAtMs < b.wakeAtMs || (a.wakeAtMs === b.wakeAtMs && a.flow.key < b.flow.key),
  );
  #nowMs: number;
  #isBehind = false;

  constructor(
    private readonly state: QueueState,
    maxInFlightPerOrigin: number,
    nowMs: number,
  ) {
    this.#origins = new OriginShares(() => state.messages.active.size, maxInFlightPerOrigin);
    this.#stopped = new StoppedLines(state.breakers);
    this.#nowMs = nowMs;
    this.#overdue = new OverdueLine(nowMs);
  }

  /** Called for each awake message of the state before the first `run`. */
  place(message: Message): void {
    if (message.status === DELIVERED) return;
    if (message.status === ACTIVE) this.#enter(message);
    else if (message.dueAtMs > this.#nowMs) this.#delayed.add(message);
    // Messages of a queue must keep their order; the parallelism of a queue and the limits of a key already spread
    // their messages.
    else if (this.#queueOf(message) !== undefined || isKeyed(message)) this.#enter(message);
    else this.#overdue.add(message);
  }

  /** The latest time that decisions were based on. */
  get nowMs(): number {
    return this.#nowMs;
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** More attempts would start if the process had more room. */
  get waitsForRoom(): boolean {
    return this.#origins.waitsForSpare;
  }

  /** The time of the next work if the state does not change before. */
  nextDueAtMs(): number | undefined {
    let next: number | undefined;
    const delayed = this.state.messages.nextDueAtMs;
    const { top: window } = this.#windows;
    const others = [this.#overdue.nextAtMs(), window?.wakeAtMs, this.#stopped.nextAtMs()];
    for (const at of [this.#delayed.nextAtMs(), delayed, ...others]) {
      if (at !== undefined && (next === undefined || at < next)) next = at;
    }
    return next;
  }

  /**
   * Starts messages as far as limits and work per call allow.
   * @returns the number of attempts started
   */
  run(nowMs: number, room: StartAllowance, start: Start): number {
    this.#nowMs = Math.max(this.#nowMs, nowMs);
    this.#origins.setRoom(room.parallelism, room.spare);
    this.#wakeOrigin();
    const hasReleasedAll = this.#release();
    let started = 0;
    let looks = 0;
    for (; looks < LOOKS_AT_ONCE && started < room.attempts; looks += 1) {
      const lane = this.#restarts.first ?? this.#firstInWheel(room);
      if (lane === undefined) break;
      if (this.#turn(lane, start)) started += 1;
    }
    const couldGoOn = this.#restarts.first !== undefined || this.#firstInWheel(room) !== undefined;
    this.#isBehind = !hasReleasedAll || couldGoOn;
    return started;
  }

  /** Due messages of the key that have not started. */
  waitingOf(key: string): number {
    return this.#flowGates.get(key)?.waiting ?? 0;
  }

  /** Due messages that wait for a stopped destination. */
  stoppedAt(url: string): number {
    return this.#stopped.waitingOf(url);
  }

  viewOf(flow: FlowKey, nowMs: number): FlowView {
    return flow.view(this.waitingOf(flow.key), nowMs);
  }

  // ── calls from the state ──

  waits(message: Message): void {
    if (message.dueAtMs > Math.max(this.#nowMs, this.state.nowMs)) this.#delayed.add(message);
    else this.#enter(message);
  }

  leaves(message: Message): void {
    message.waitsIn?.leave(message);
  }

  attemptStarted(message: Message): void {
    this.#origins.started(this.#originGate(message));
  }

  attemptEnded(message: Message, hasAnswered: boolean | undefined): void {
    // The message was interrupted by a crash and not repeated: it waits in a lane and is not counted as open.
    if (message.waitsIn !== undefined) message.waitsIn.leave(message);
    else this.#origins.ended(this.#originGate(message), standingAfter(hasAnswered));
    this.#wakeOrigin();
    const key = message.shared.envelope.settings.flowControl?.key;
    if (key !== undefined) this.flowChanged(key);
  }

  flowChanged(key: string): void {
    const gate = this.#flowGates.get(key);
    if (gate !== undefined) this.#wakeNext(gate);
  }

  queueChanged(queue: OrderedQueue): void {
    const parked = this.#queueGates.get(queue);
    if (parked === undefined) return;
    this.#queueGates.delete(queue);
    for (let lane = parked.first; lane !== undefined; lane = parked.first) {
      parked.delete(lane);
      this.#turnable(lane);
    }
  }

  breakerChanged(url: string | undefined): void {
    this.#stopped.changed(url);
  }

  // ── lanes ──

  #release(): boolean {
    for (let count = 0; count < RELEASED_AT_ONCE; count += 1) {
      const nowMs = this.#nowMs;
      const message =
        this.#delayed.take(nowMs) ??
        this.state.messages.wakeDue(nowMs) ??
        this.#overdue.take(nowMs) ??
        this.#stopped.take(nowMs);
      if (message !== undefined) {
        this.#enter(message);
        continue;
      }
      const gate = this.#windows.top;
      if (gate === undefined || gate.wakeAtMs > this.#nowMs) return true;
      this.#windows.delete(gate);
      this.#wakeNext(gate);
      this.#dropGateIfUnused(gate);
    }
    return false;
  }

  #enter(message: Message): void {
    const kind = this.#kindOf(message);
    if (kind !== 'restart' && this.#stopped.holds(message, this.#nowMs)) {
      this.#stopped.add(message);
      return;
    }
    const key = laneKeyOf(kind, message);
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key, kind, (from, gone) => this.#left(from, gone));
      this.#lanes.set(key, lane);
    }
    lane.messages.push(message);
    message.waitsIn = lane;
    const gate = this.#flowGateOf(message);
    if (gate !== undefined) gate.waiting += 1;
    if (lane.list === undefined) this.#turnable(lane);
    else if (kind === 'line' && lane.messages.top === message && lane.list !== this.#wheel) {
      // A line waits for the gate of its first message, which is new.
      this.#unlist(lane);
      this.#turnable(lane);
    }
  }

  #left(lane: Lane, message: Message): void {
    const gate = this.#flowGateOf(message);
    if (gate !== undefined) gate.waiting -= 1;
    if (lane.messages.size === 0) {
      this.#unlist(lane);
      this.#lanes.delete(lane.key);
      this.#settleWake(this.#takeWake(lane));
    } else if (lane.kind === 'line' && lane.list !== undefined && lane.list !== this.#wheel) {
      this.#unlist(lane);
      this.#turnable(lane);
    }
    if (gate !== undefined) this.#dropGateIfUnused(gate);
  }

  #unlist(lane: Lane): void {
    lane.list?.delete(lane);
    const gate = lane.parkedAt;
    lane.parkedAt = undefined;
    if (gate !== undefined) this.#origins.parkedChanged(gate);
  }

  #turnable(lane: Lane): void {
    if (lane.kind === 'restart') this.#restarts.push(lane);
    else this.#wheel.push(lane);
  }

  #firstInWheel({ parallelism }: StartAllowance): Lane | undefined {
    return this.state.messages.active.size < parallelism ? this.#wheel.first : undefined;
  }

  /** The lane's turn: its first message starts, or the lane parks. */
  #turn(lane: Lane, start: Start): boolean {
    const message = lane.messages.top as Message;
    const list = lane.list as LaneList;
    const woke = this.#takeWake(lane);
    list.delete(lane);
    let hasStarted = false;
    if (lane.kind !== 'restart' && this.#stopped.holds(message, this.#nowMs)) {
      list.push(lane);
      lane.leave(message);
      this.#stopped.add(message);
    } else if (!this.#parks(lane, message, woke)) {
      list.push(lane);
      lane.messages.starts(message);
      hasStarted = start(message);
    }
    this.#settleWake(woke);
    return hasStarted;
  }

  #parks(lane: Lane, message: Message, woke: FlowGate | OriginGate | undefined): boolean {
    const isRestart = lane.kind === 'restart';
    const queue = this.#queueOf(message);
    if (queue !== undefined && (queue.isPaused || (lane.kind === 'line' && !queue.hasFreePlace))) {
      this.#queueGate(queue).push(lane);
      return true;
    }
    const gate = this.#flowGateOf(message);
    if (gate !== undefined) {
      const { flow } = gate;
      if (flow.isPaused || !flow.hasRate(this.#nowMs) || !(isRestart || flow.hasFreeToken())) {
        (isRestart ? gate.parkedRestarts : gate.parked).push(lane);
        this.#timeWindow(gate);
        return true;
      }
    }
    // The call was open before the crash, so its place is still its own.
    if (isRestart) return false;
    const originGate = this.#originGate(message);
    // A newly blocked lane parks after the waiting ones; otherwise the few lanes in the wheel would take all freed
    // places.
    const hasTurn = woke === originGate || originGate.parked.first === undefined;
    if (hasTurn && this.#origins.hasRoom(originGate)) return false;
    originGate.parked.push(lane);
    lane.parkedAt = originGate;
    this.#origins.parkedChanged(originGate);
    return true;
  }

  #wakeNext(gate: FlowGate | OriginGate): void {
    if (!(gate instanceof FlowGate)) {
      this.#wakeOrigin();
      return;
    }
    const lane = this.#nextOfFlow(gate);
    if (lane === undefined) return;
    lane.list?.delete(lane);
    lane.wokenBy = gate;
    this.#turnable(lane);
  }

  /** A woken lane has its place reserved, so it never finds the place taken and loses its turn. */
  #wakeOrigin(): void {
    const gate = this.#origins.next();
    const lane = gate?.parked.first;
    if (gate === undefined || lane === undefined) return;
    lane.wokenBy = gate;
    this.#origins.woke(gate, 1);
    this.#unlist(lane);
    this.#turnable(lane);
  }

  #nextOfFlow(gate: FlowGate): Lane | undefined {
    const { flow, parked, parkedRestarts } = gate;
    if (flow.isPaused) return undefined;
    if (!flow.hasRate(this.#nowMs)) {
      this.#timeWindow(gate);
      return undefined;
    }
    return parkedRestarts.first ?? (flow.hasFreeToken() ? parked.first : undefined);
  }

  /** The lane used or lost its reservation: the next lane may have it. */
  #settleWake(woke: FlowGate | OriginGate | undefined): void {
    if (woke !== undefined) this.#wakeNext(woke);
  }

  /** Ends the lane's reservation. */
  #takeWake(lane: Lane): FlowGate | OriginGate | undefined {
    const woke = lane.wokenBy;
    lane.wokenBy = undefined;
    if (woke !== undefined && !(woke instanceof FlowGate)) this.#origins.woke(woke, -1);
    return woke;
  }

  /** Lanes blocked by the key's rate are looked at when its window ends. */
  #timeWindow(gate: FlowGate): void {
    const { flow, parked, parkedRestarts } = gate;
    if (flow.isPaused || flow.hasRate(this.#nowMs)) return;
    if (parked.first === undefined && parkedRestarts.first === undefined) return;
    if (gate.heapIndex !== -1) this.#windows.delete(gate);
    gate.wakeAtMs = flow.windowEndsAtMs;
    this.#windows.push(gate);
  }

  #kindOf(message: Message): LaneKind {
    if (message.status === ACTIVE) return 'restart';
    if (this.#queueOf(message) === undefined) return 'message';
    return this.state.queues.placeOf(message.id) === undefined ? 'line' : 'holder';
  }

  #queueOf(message: Message): OrderedQueue | undefined {
    const { queueName } = message.shared.envelope;
    return queueName === undefined ? undefined : this.state.queues.get(queueName);
  }

  #flowGateOf(message: Message): FlowGate | undefined {
    const key = message.shared.envelope.settings.flowControl?.key;
    if (key === undefined) return undefined;
    let gate = this.#flowGates.get(key);
    if (gate === undefined) {
      const flow = this.state.flows.get(key) as FlowKey;
      gate = new FlowGate(flow);
      this.#flowGates.set(key, gate);
    }
    return gate;
  }

  #originGate({ shared }: Message): OriginGate {
    return this.#origins.gateOf(shared.origin);
  }

  #queueGate(queue: OrderedQueue): LaneList {
    let parked = this.#queueGates.get(queue);
    if (parked === undefined) {
      parked = new LaneList();
      this.#queueGates.set(queue, parked);
    }
    return parked;
  }

  #dropGateIfUnused(gate: FlowGate): void {
    if (gate.waiting > 0) return;
    if (gate.heapIndex !== -1) this.#windows.delete(gate);
    this.#flowGates.delete(gate.flow.key);
  }
}

function laneKeyOf(kind: LaneKind, message: Message): string {
  const { lane, envelope } = message.shared;
  switch (kind) {
    case 'message':
      return `m\n${lane}`;
    case 'line':
      return `q\n${envelope.queueName}`;
    default:
      return `${kind}\n${envelope.queueName ?? ''}\n${lane}`;
  }
}

function isKeyed({ shared }: Message): boolean {
  return shared.envelope.settings.flowControl !== undefined;
}

function standingAfter(hasAnswered: boolean | undefined): Standing | undefined {
  if (hasAnswered === undefined) return undefined;
  return hasAnswered ? 'answers' : 'silent';
}
