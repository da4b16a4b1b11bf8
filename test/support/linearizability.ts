/**
 * Is there an order of these operations, each taking effect at one instant between its call and its
 * return, that explains every answer? Wing and Gong's search in Lowe's form: a list of calls and
 * returns, operations lifted out of it as they are given their place, and a memory of (set of placed
 * operations, state) so that no situation is explored twice.
 *
 *  LZ1 an operation that returned has a place between its call and its return
 *  LZ2 an operation with an unknown outcome has a place anywhere after its call, or none; one whose outcome was said to
 *      be final has its place before that, or none
 *  LZ3 an operation that surely failed has none: leave it out of the history
 *  LZ4 keys are independent, so each is checked by itself
 */

export interface Operation<Input, Output> {
  readonly client: string;
  readonly key: string;
  readonly input: Input;
  /** Any clock all clients share. Equal instants count as overlapping. */
  readonly calledAt: number;
  /** Absent: nobody knows whether, or when, it took effect. */
  readonly returned?: { readonly at: number; readonly output: Output };
  /** Of an unknown outcome: from then on nothing comes of it any more. */
  readonly finalAt?: number | undefined;
}

export interface Model<State, Input, Output> {
  readonly initial: State;
  /** The state afterwards; undefined when `output` cannot be the answer. No output: whatever it would be. */
  step(state: State, input: Input, output: Output | undefined): { readonly state: State } | undefined;
  /** Equal texts for equal states. */
  fingerprint(state: State): string;
}

export type Verdict =
  | { readonly kind: 'linearizable' }
  | { readonly kind: 'impossible'; readonly key: string; readonly explanation: string }
  /** The search was given up after `maxSteps`. Never take it for a yes. */
  | { readonly kind: 'undecided'; readonly key: string; readonly steps: number };

/** Far above what a simulated history needs (thousands); keeps a pathological one from hanging a test run. */
const DEFAULT_MAX_STEPS = 2_000_000;

export function checkLinearizability<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  model: Model<State, Input, Output>,
  maxSteps: number = DEFAULT_MAX_STEPS,
): Verdict {
  for (const [key, operations] of byKey(history)) {
    const verdict = new Search(key, operations, model).run(maxSteps);
    if (verdict.kind !== 'linearizable') return verdict;
  }
  return { kind: 'linearizable' };
}

function byKey<Input, Output>(
  history: readonly Operation<Input, Output>[],
): ReadonlyMap<string, Operation<Input, Output>[]> {
  const groups = new Map<string, Operation<Input, Output>[]>();
  for (const operation of history) {
    const group = groups.get(operation.key);
    if (group === undefined) groups.set(operation.key, [operation]);
    else group.push(operation);
  }
  return groups;
}

/** A call or a return in the list; `previous` and `next` change as operations are lifted out and put back. */
interface Mark {
  readonly index: number;
  readonly isCall: boolean;
  readonly at: number;
  /** Of a call: its return, when it has one. */
  partner: Mark | undefined;
  previous: Mark | undefined;
  next: Mark | undefined;
}

class Search<State, Input, Output> {
  private readonly head: Mark = {
    index: -1,
    isCall: false,
    at: -1,
    partner: undefined,
    previous: undefined,
    next: undefined,
  };
  private readonly placed: Uint8Array;
  private low = 0;
  private high = 0;
  private readonly earlierTwin: readonly (number | undefined)[];
  private readonly seen = new Set<string>();
  private longest: number[] = [];

  constructor(
    private readonly key: string,
    private readonly operations: readonly Operation<Input, Output>[],
    private readonly model: Model<State, Input, Output>,
  ) {
    this.placed = new Uint8Array(operations.length);
    this.earlierTwin = earlierTwins(operations);
    this.link();
  }

  run(maxSteps: number): Verdict {
    const trail: { mark: Mark; before: State }[] = [];
    let state = this.model.initial;
    let missing = this.operations.filter((operation) => operation.returned !== undefined).length;
    let mark = this.head.next;
    for (let steps = 0; missing > 0; steps += 1) {
      if (steps > maxSteps) return { kind: 'undecided', key: this.key, steps };
      if (mark?.isCall) {
        const after = this.place(mark, state);
        if (after === undefined) {
          mark = mark.next;
          continue;
        }
        trail.push({ mark, before: state });
        state = after.state;
        if (this.isReturned(mark)) missing -= 1;
        lift(mark);
        if (trail.length > this.longest.length) this.longest = trail.map((placed) => placed.mark.index);
        mark = this.head.next;
        continue;
      }
      if (mark !== undefined && this.drop(mark, state)) {
        trail.push({ mark, before: state });
        mark = this.head.next;
        continue;
      }
      // A return whose operation has no place yet (or the end of the list): whatever was placed last was placed wrongly.
      const last = trail.pop();
      if (last === undefined) return { kind: 'impossible', key: this.key, explanation: this.explain() };
      this.toggle(last.mark.index);
      state = last.before;
      if (last.mark.isCall) {
        if (this.isReturned(last.mark)) missing += 1;
        unlift(last.mark);
        mark = last.mark.next;
      } else {
        unlift(last.mark.partner as Mark);
        // It was the only thing to do there.
        mark = undefined;
      }
    }
    return { kind: 'linearizable' };
  }

  /** Gives the operation the next place, if its answer allows it and the situation is a new one. */
  private place(mark: Mark, state: State): { state: State } | undefined {
    const twin = this.earlierTwin[mark.index];
    if (twin !== undefined && this.placed[twin] === 0) return undefined;
    const { input, returned } = this.operations[mark.index] as Operation<Input, Output>;
    const after = this.model.step(state, input, returned?.output);
    if (after === undefined) return undefined;
    const fingerprint = this.model.fingerprint(after.state);
    // One of unknown outcome that changes nothing explains nothing: leave it without a place.
    if (returned === undefined && fingerprint === this.model.fingerprint(state)) return undefined;
    this.toggle(mark.index);
    const situation = `${this.low} ${this.high} ${fingerprint}`;
    if (this.seen.has(situation)) {
      this.toggle(mark.index);
      return undefined;
    }
    this.seen.add(situation);
    return after;
  }

  /** LZ2: beyond this mark an operation of unknown outcome has no place any more. False when that leads nowhere new. */
  private drop(mark: Mark, state: State): boolean {
    if (this.isReturned(mark)) return false;
    this.toggle(mark.index);
    const situation = `${this.low} ${this.high} ${this.model.fingerprint(state)}`;
    if (this.seen.has(situation)) {
      this.toggle(mark.index);
      return false;
    }
    this.seen.add(situation);
    lift(mark.partner as Mark);
    return true;
  }

  private isReturned({ index }: Mark): boolean {
    return this.operations[index]?.returned !== undefined;
  }

  /** The set of placed operations is known by 64 bits: the exclusive or of a number for each of them. */
  private toggle(index: number): void {
    this.placed[index] = 1 - (this.placed[index] as number);
    this.low ^= scattered(2 * index);
    this.high ^= scattered(2 * index + 1);
  }

  private link(): void {
    const marks: Mark[] = [];
    for (const [index, { calledAt, returned, finalAt }] of this.operations.entries()) {
      const call: Mark = {
        index,
        isCall: true,
        at: calledAt,
        partner: undefined,
        previous: undefined,
        next: undefined,
      };
      marks.push(call);
      const endsAt = returned?.at ?? finalAt;
      if (endsAt === undefined) continue;
      const end: Mark = {
        index,
        isCall: false,
        at: endsAt,
        partner: call,
        previous: undefined,
        next: undefined,
      };
      call.partner = end;
      marks.push(end);
    }
    marks.sort((a, b) => a.at - b.at || Number(b.isCall) - Number(a.isCall) || a.index - b.index);
    let last = this.head;
    for (const mark of marks) {
      last.next = mark;
      mark.previous = last;
      last = mark;
    }
  }

  private explain(): string {
    const placed = new Set(this.longest);
    const rest = this.operations.map((_, index) => index).filter((index) => !placed.has(index));
    return [
      `no order explains ${this.operations.length} operations on ${this.key}; the longest that fits is`,
      ...this.longest.map((index) => `  ${this.describe(index)}`),
      'and then none of',
      ...rest.map((index) => `  ${this.describe(index)}`),
    ].join('\n');
  }

  private describe(index: number): string {
    const { client, input, calledAt, returned, finalAt } = this.operations[index] as Operation<Input, Output>;
    const unknown = finalAt === undefined ? 'unknown' : `unknown, final at ${finalAt}`;
    const outcome = returned === undefined ? unknown : `${JSON.stringify(returned.output)} at ${returned.at}`;
    return `[${calledAt}] ${client} ${JSON.stringify(input)} → ${outcome}`;
  }
}

/**
 * Two operations of unknown outcome with the same input can stand in for each other, so the one that
 * was called first is placed first. Without this, n open increments cost 2ⁿ situations instead of n.
 */
function earlierTwins<Input, Output>(operations: readonly Operation<Input, Output>[]): (number | undefined)[] {
  const twins: (number | undefined)[] = operations.map(() => undefined);
  const latest = new Map<string, number>();
  const open = operations.flatMap((operation, index) =>
    operation.returned === undefined && operation.finalAt === undefined ? [{ operation, index }] : [],
  );
  open.sort((a, b) => a.operation.calledAt - b.operation.calledAt || a.index - b.index);
  for (const { operation, index } of open) {
    const input = JSON.stringify(operation.input);
    twins[index] = latest.get(input);
    latest.set(input, index);
  }
  return twins;
}

/** A 32-bit number that looks random and is the same every time (the finalizer of MurmurHash3). */
function scattered(value: number): number {
  let mixed = (value + 1) * 0x9e3779b1;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function lift(call: Mark): void {
  unlink(call);
  if (call.partner !== undefined) unlink(call.partner);
}

/** The exact reverse of `lift`, in reverse order. */
function unlift(call: Mark): void {
  if (call.partner !== undefined) relink(call.partner);
  relink(call);
}

function unlink(mark: Mark): void {
  if (mark.previous !== undefined) mark.previous.next = mark.next;
  if (mark.next !== undefined) mark.next.previous = mark.previous;
}

function relink(mark: Mark): void {
  if (mark.previous !== undefined) mark.previous.next = mark;
  if (mark.next !== undefined) mark.next.previous = mark;
}
