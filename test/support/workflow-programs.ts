/**
 * Small random workflows. A program is plain JSON and the payload of its run, so that one endpoint serves all
 * programs. `workflow-model.ts` computes the expected outcome; `workflow-interpreter.ts` runs the program with the
 * published client.
 */
import { createHash } from 'node:crypto';
import type { SeededRandom } from './seeded-random.js';

export interface Program {
  /** A unique id; a child's id starts with its parent's. */
  readonly id: string;
  /** The retries of each delivery of the run. */
  readonly retries: number;
  readonly ops: readonly Op[];
}

/** A step, single or in a parallel group. Names are unique within a program. */
export type Step =
  /**
   * Throws this number of times and then succeeds. `never`: always throws; `refuses`: reports that a retry is
   * useless.
   */
  | { readonly kind: 'run'; readonly name: string; readonly throws: number; readonly ends?: 'never' | 'refuses' }
  | { readonly kind: 'sleep'; readonly name: string; readonly seconds: number; readonly isUntil: boolean }
  /** The third party refuses this number of calls and then answers with the status. */
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly status: number;
      readonly refusals: number;
      readonly retries: number;
    }
  /**
   * The time of the notification. `early`: right after the start of the run; `met`: when a run waits; `race`: at
   * about the timeout of the wait; `never`: there is none.
   */
  | { readonly kind: 'wait'; readonly name: string; readonly how: 'early' | 'met' | 'race' | 'never' }
  | { readonly kind: 'invoke'; readonly name: string; readonly child: Program; readonly isNamed: boolean };

export type Op =
  | Step
  | { readonly kind: 'group'; readonly members: readonly Step[] }
  /** The run notifies itself this number of times, then waits as often. */
  | { readonly kind: 'own'; readonly name: string; readonly events: number }
  /** The webhook is called this number of times, and the run waits for each call; with 0 the wait times out. */
  | { readonly kind: 'webhook'; readonly name: string; readonly calls: number }
  /** A branch that depends on earlier results. */
  | { readonly kind: 'branch'; readonly yes: readonly Op[]; readonly no: readonly Op[] }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'return' };

export interface ProgramStyle {
  /**
   * The test injects failures into deliveries. Then programs have many retries, no program fails because retries are
   * used up, and event ids are unique.
   */
  readonly isFaulty: boolean;
  /**
   * Many steps fail, but no child does, and children have no names of their own. The outcome of a resumed run can
   * then be computed.
   */
  readonly isForResuming?: boolean;
}

const MAX_OPS = 6;
const MAX_CHILD_OPS = 3;
const MAX_DEPTH = 2;
const MAX_MEMBERS = 4;
const FAULTY_RETRIES = 60;

export function randomProgram(random: SeededRandom, id: string, style: ProgramStyle): Program {
  return new Author(random, style).program(id, 0);
}

/** A short digest of all earlier results. */
export function digest(seen: string, next: string): string {
  return createHash('sha256').update(`${seen} ${next}`).digest('hex').slice(0, 12);
}

export function choosesYes(seen: string): boolean {
  return Number.parseInt(seen.slice(-1), 16) % 2 === 0;
}

export function eventOf(program: Program, name: string): string {
  return `${program.id}-${name}`;
}

/** The data of an event: text or an object. */
export function dataOf(eventId: string, number = 0): unknown {
  return eventId.length % 2 === 0 ? `${eventId} ${number} ü` : { of: eventId, number };
}

/** The program without its failing steps. */
export function withoutFailures(program: Program): Program {
  const step = (each: Step): Step =>
    each.kind === 'run' ? { kind: 'run', name: each.name, throws: each.throws } : each;
  const op = (each: Op): Op => {
    switch (each.kind) {
      case 'group':
        return { kind: 'group', members: each.members.map(step) };
      case 'branch':
        return { kind: 'branch', yes: each.yes.map(op), no: each.no.map(op) };
      case 'run':
        return step(each);
      default:
        return each;
    }
  };
  return { ...program, ops: program.ops.map(op) };
}

/** The waits of a program, without its children's, that are notified early. */
export function earlyEvents(program: Program): string[] {
  return stepsOf(program.ops).flatMap((step) =>
    step.kind === 'wait' && step.how === 'early' ? [eventOf(program, step.name)] : [],
  );
}

function stepsOf(ops: readonly Op[]): Step[] {
  return ops.flatMap((op): Step[] => {
    switch (op.kind) {
      case 'group':
        return [...op.members];
      case 'branch':
        return [...stepsOf(op.yes), ...stepsOf(op.no)];
      case 'run':
      case 'sleep':
      case 'call':
      case 'wait':
      case 'invoke':
        return [op];
      default:
        return [];
    }
  });
}

class Author {
  #names = 0;

  constructor(
    private readonly random: SeededRandom,
    private readonly style: ProgramStyle,
  ) {}

  program(id: string, depth: number): Program {
    const { random } = this;
    const retries = this.style.isFaulty ? FAULTY_RETRIES : random.below(4);
    const count = 1 + random.below(depth === 0 ? MAX_OPS : MAX_CHILD_OPS);
    const place: Place = { id, depth, retries };
    // A step must come first: the client treats a function that returns before its first step as one that refuses the
    // request.
    const ops: Op[] = [this.#step(place)];
    while (ops.length < count) ops.push(this.#op(place));
    if (this.#fails(place, 7)) ops.push(this.#failing());
    return { id, retries, ops };
  }

  /** Returns true in one of `of` cases. */
  #fails({ depth }: Place, of: number): boolean {
    const { isForResuming } = this.style;
    if (isForResuming && depth > 0) return false;
    return this.random.below(isForResuming ? 2 : of) === 0;
  }

  #op(place: Place): Op {
    const { random } = this;
    const dice = random.below(20);
    if (dice < 11) return this.#step(place);
    if (dice < 15) return this.#group(place);
    if (dice === 15) return { kind: 'own', name: this.#name(), events: 1 + this.#repeats() };
    if (dice === 16) return { kind: 'webhook', name: this.#name(), calls: random.below(2) + this.#repeats() };
    if (dice < 19) return { kind: 'branch', yes: [this.#step(place)], no: this.#otherwise(place) };
    return random.below(3) === 0 ? { kind: 'cancel' } : this.#step(place);
  }

  #otherwise(place: Place): Op[] {
    return this.random.below(3) === 0 ? [{ kind: 'return' }] : [this.#group(place), this.#step(place)];
  }

  #repeats(): number {
    return this.style.isFaulty ? 0 : this.random.below(2);
  }

  #group(place: Place): Op {
    const count = 2 + this.random.below(MAX_MEMBERS - 1);
    const members = Array.from({ length: count }, () => this.#step(place));
    if (this.#fails(place, 8)) members[this.random.below(count)] = this.#failing();
    return { kind: 'group', members };
  }

  #failing(): Step {
    const ends = this.style.isFaulty || this.random.below(2) === 0 ? 'refuses' : 'never';
    return { kind: 'run', name: this.#name(), throws: 0, ends };
  }

  #step(place: Place): Step {
    const { random } = this;
    const name = this.#name();
    const dice = random.below(16);
    if (dice < 6) return { kind: 'run', name, throws: this.#throws(place) };
    if (dice < 8) return { kind: 'sleep', name, seconds: random.below(2), isUntil: random.below(2) === 0 };
    if (dice < 11) return this.#call(name);
    if (dice < 14) {
      return { kind: 'wait', name, how: random.pick(this.#endsOfWaits(place)) };
    }
    if (place.depth === MAX_DEPTH) return { kind: 'run', name, throws: 0 };
    const child = this.program(`${place.id}.${name}`, place.depth + 1);
    return { kind: 'invoke', name, child, isNamed: !this.style.isForResuming && random.below(2) === 0 };
  }

  #call(name: string): Step {
    const { random } = this;
    const status = random.pick([200, 200, 201, 404, 500]);
    return { kind: 'call', name, status, refusals: random.below(3), retries: random.below(3) };
  }

  #endsOfWaits({ depth }: Place): readonly Extract<Step, { kind: 'wait' }>['how'][] {
    // External clients do not know when a child run has started.
    if (depth > 0) return ['met', 'never'];
    return this.style.isForResuming ? ['early', 'met', 'never'] : ['early', 'met', 'race', 'never'];
  }

  #throws({ retries }: Place): number {
    return this.random.below(4) === 0 ? Math.min(retries, 1 + this.random.below(2)) : 0;
  }

  #name(): string {
    this.#names += 1;
    return `s${this.#names}`;
  }
}

interface Place {
  readonly id: string;
  readonly depth: number;
  readonly retries: number;
}
