/**
 * Messages that wait because the breaker of their destination is open or disabled. They are in no lane, so a stopped
 * destination delays no other, and they cost no looks until a probe is due or the breaker closes. Messages of runs, and
 * those that ask for it, have separate lines, because they also wait where others go to the DLQ.
 */
import { type HeapItem, IndexedHeap } from '../collections/indexed-heap.js';
import type { Message, WaitingLine } from '../model/messages/message.js';
import { type Breakers, breakerUrlOf } from '../model/state/breakers.js';
import { mayProbe } from './breaker.js';
import { isAcceptedBefore } from './lanes.js';

/** A released message that has not started after this time, because a limit holds it, lets the next one try. */
const NEXT_TRY_MS = 5_000;
const ALWAYS = ' always';

class StoppedLine implements WaitingLine, HeapItem {
  readonly messages = new IndexedHeap<Message>(isAcceptedBefore);
  /** The time of the next release, while the line is among those that are due. */
  wakeAtMs = 0;
  heapIndex = -1;

  constructor(
    readonly key: string,
    private readonly left: (line: StoppedLine) => void,
  ) {}

  leave(message: Message): void {
    this.messages.delete(message);
    message.waitsIn = undefined;
    this.left(this);
  }
}

export class StoppedLines {
  readonly #byKey = new Map<string, StoppedLine>();
  readonly #due = new IndexedHeap<StoppedLine>(
    (a, b) => a.wakeAtMs < b.wakeAtMs || (a.wakeAtMs === b.wakeAtMs && a.key < b.key),
  );

  constructor(private readonly breakers: Breakers) {}

  /** Whether the message has to wait here. */
  holds(message: Message, nowMs: number): boolean {
    if (this.breakers.stopped === 0) return false;
    const breaker = this.breakers.stoppedFor(message.shared.envelope.url);
    if (breaker === undefined || mayProbe(breaker, nowMs)) return false;
    return (fateOf(message) ?? this.breakers.rules?.messages) === 'wait';
  }

  add(message: Message): void {
    const key = breakerUrlOf(message.shared.envelope.url) + (fateOf(message) === 'wait' ? ALWAYS : '');
    let line = this.#byKey.get(key);
    if (line === undefined) {
      line = new StoppedLine(key, (each) => this.#dropIfEmpty(each));
      this.#byKey.set(key, line);
    }
    line.messages.push(message);
    message.waitsIn = line;
    if (line.messages.size === 1) this.#plan(line, 0);
  }

  /** Messages that wait for the destination. */
  waitingOf(url: string): number {
    return (this.#byKey.get(url)?.messages.size ?? 0) + (this.#byKey.get(url + ALWAYS)?.messages.size ?? 0);
  }

  nextAtMs(): number | undefined {
    return this.#due.top?.wakeAtMs;
  }

  /** A message that may enter its lane: the next probe, or one of a destination that is no longer stopped. */
  take(nowMs: number): Message | undefined {
    const line = this.#due.top;
    if (line === undefined || line.wakeAtMs > nowMs) return undefined;
    const message = line.messages.pop();
    if (message !== undefined) message.waitsIn = undefined;
    this.#plan(line, nowMs + NEXT_TRY_MS);
    this.#dropIfEmpty(line);
    return message;
  }

  /** @param url of the changed breaker; undefined: all of them */
  changed(url: string | undefined): void {
    const keys = url === undefined ? [...this.#byKey.keys()] : [url, url + ALWAYS];
    for (const key of keys) {
      const line = this.#byKey.get(key);
      if (line !== undefined) this.#plan(line, 0);
    }
  }

  /** @param notBeforeMs of the next probe */
  #plan(line: StoppedLine, notBeforeMs: number): void {
    if (line.heapIndex !== -1) this.#due.delete(line);
    const [url, isAlways] = urlAndMark(line);
    const breaker = this.breakers.stoppedFor(url);
    const isFree = breaker === undefined || !(isAlways || this.breakers.rules?.messages === 'wait');
    if (!isFree && breaker.state === 'disabled') return;
    line.wakeAtMs = isFree ? 0 : Math.max(breaker.nextProbeAtMs, notBeforeMs);
    this.#due.push(line);
  }

  #dropIfEmpty(line: StoppedLine): void {
    if (line.messages.size > 0) return;
    if (line.heapIndex !== -1) this.#due.delete(line);
    this.#byKey.delete(line.key);
  }
}

/** Undefined: by the rules. */
function fateOf({ shared: { envelope } }: Message) {
  return envelope.workflow === undefined ? envelope.settings.whenStopped : 'wait';
}

function urlAndMark({ key }: StoppedLine): [url: string, isAlways: boolean] {
  return key.endsWith(ALWAYS) ? [key.slice(0, -ALWAYS.length), true] : [key, false];
}
