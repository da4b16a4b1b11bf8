/**
 * Checks whether an order of the operations explains every answer, where each operation takes effect at one instant
 * between its call and its return. It is Wing and Gong's search in Lowe's form: a list of calls and returns, from
 * which placed operations are removed, and a memory of visited pairs (set of placed operations, state).
 *
 *  LZ1 an operation that returned takes effect between its call and its return
 *  LZ2 an operation with an unknown outcome takes effect at any time after its call, or never; if its outcome was
 *      reported as final, it does so before that report or never
 *  LZ3 an operation that certainly failed has no effect: callers leave it out of the history
 *  LZ4 keys are independent, so each key is checked alone
 */

export interface Operation<Input, Output> {
  readonly client: string;
  readonly key: string;
  readonly input: Input;
  /** An instant of any clock that all clients share. Equal instants count as overlapping. */
  readonly calledAt: number;
  /** Undefined if it is unknown whether or when the operation took effect. */
  readonly returned?: { readonly at: number; readonly output: Output };
  /** For an unknown outcome: the instant after which the operation can have no further effect. */
  readonly finalAt?: number | undefined;
}

export interface Model<State, Input, Output> {
  readonly initial: State;
  /** The next state; undefined if `output` is no possible answer. Without an output any answer is possible. */
  step(state: State, input: Input, output: Output | undefined): { readonly state: State } | undefined;
  /** A text that is equal for equal states. */
  fingerprint(state: State): string;
}

export type Verdict =
  | { readonly kind: 'linearizable' }
  | { readonly kind: 'impossible'; readonly key: string; readonly explanation: string }
  /** The search stopped after `maxSteps`. This is no proof of linearizability. */
  | { readonly kind: 'undecided'; readonly key: string; readonly steps: number };

/** A limit for pathological histories, far above the thousands of steps that a simulated history needs. */
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

/** A call or a return in the list; `previous` and `next` change when operations are removed and put back. */
interface Mark {
  readonly index: number;
  readonly isCall: boolean;
  readonly at: number;
  /** For a call: its return, if there is one. */
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
      // A return of an operation without a place, or the end of the list: the last placement was wrong.
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
        // There was no other choice.
        mark = undefined;
      }
    }
    return { kind: 'linearizable' };
  }

  /** Places the operation next, if its answer permits it and the resulting pair has not been visited. */
  private place(mark: Mark, state: State): { state: State } | undefined {
    const twin = this.earlierTwin[mark.index];
    if (twin !== undefined && this.placed[twin] === 0) return undefined;
    const { input, returned } = this.operations[mark.index] as Operation<Input, Output>;
    const after = this.model.step(state, input, returned?.output);
    if (after === undefined) return undefined;
    const fingerprint = this.model.fingerprint(after.state);
    // An operation of unknown outcome that does not change the state explains no answer, so it is not placed.
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

  /**
   * LZ2: after this mark an operation of unknown outcome cannot be placed. Returns false if the resulting pair has
   * been visited.
   */
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

  /** The set of placed operations is represented by 64 bits: the exclusive or of one number per operation. */
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
 * Two operations of unknown outcome with the same input are interchangeable, so the earlier call is placed first.
 * Otherwise n open increments would cost 2ⁿ states instead of n.
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

/** A fixed pseudo-random 32-bit number for each value (the finalizer of MurmurHash3). */
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

/** The reverse of `lift`, in reverse order. */
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
