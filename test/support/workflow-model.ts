/**
 * Computes the expected outcome of a program directly, without server, messages or replay.
 *
 * An effect is an execution of a step function. Effects of a stage may happen in any order, and after all effects of
 * earlier stages.
 */
import { choosesYes, dataOf, digest, eventOf, type Op, type Program, type Step } from './workflow-programs.js';

export interface Effect {
  readonly name: string;
  /** The input of the function. */
  readonly saw: string;
  /** The number of executions if only the program itself fails. */
  readonly times: number;
  /** The step is parallel to a failing one, so it may not have started or ended in time. */
  readonly isOptional: boolean;
}

export interface ExpectedRun {
  readonly program: Program;
  readonly state: 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED';
  /** The result of a successful run. */
  readonly result: readonly unknown[];
  readonly stages: readonly (readonly Effect[])[];
  /** The minimum and maximum number of requests to the endpoint, if only the program itself fails. */
  readonly posts: { readonly least: number; readonly most: number };
  /** The error message of a failed run, and the status of the endpoint's answer. */
  readonly failure: { readonly status: number; readonly message: string } | undefined;
  readonly children: readonly ExpectedChild[];
  /** The number of calls to each third party, by key, if only the program itself fails. */
  readonly calls: ReadonlyMap<string, number>;
}

interface ExpectedChild {
  readonly run: ExpectedRun;
  /** The parent may have failed before this run was started. */
  readonly isOptional: boolean;
}

/** The status of a step that throws, and of one that refuses to be retried. */
const THROWN = { never: 500, refuses: 489 } as const;

export function expectedOf(program: Program): ExpectedRun {
  return new Model(program).run();
}

/** The result of a statement; any value except `on` ends the run. */
type Next = 'on' | 'RUN_SUCCESS' | 'RUN_FAILED' | 'RUN_CANCELED';

class Model {
  #seen: string;
  /** The first delivery contains the payload. */
  #posts = { least: 1, most: 1 };
  #failure: ExpectedRun['failure'];
  readonly #result: unknown[] = [];
  readonly #stages: Effect[][] = [];
  readonly #children: ExpectedChild[] = [];
  readonly #calls = new Map<string, number>();

  constructor(private readonly program: Program) {
    this.#seen = program.id;
  }

  run(): ExpectedRun {
    const end = this.#each(this.program.ops);
    const state = end === 'on' ? 'RUN_SUCCESS' : end;
    // The request to the failure function.
    if (state === 'RUN_FAILED') this.#count(1);
    return {
      program: this.program,
      state,
      result: this.#result,
      stages: this.#stages,
      posts: this.#posts,
      failure: this.#failure,
      children: this.#children,
      calls: this.#calls,
    };
  }

  #each(ops: readonly Op[]): Next {
    for (const op of ops) {
      const next = this.#op(op);
      if (next !== 'on') return next;
    }
    return 'on';
  }

  #op(op: Op): Next {
    switch (op.kind) {
      case 'group':
        return this.#group(op.members);
      case 'own':
        for (let number = 0; number < op.events; number += 1) {
          const eventId = eventOf(this.program, op.name);
          this.#posted(1, { eventData: dataOf(eventId, number), told: 0 });
        }
        for (let number = 0; number < op.events; number += 1) {
          this.#posted(1, { eventData: dataOf(eventOf(this.program, op.name), number), timeout: false });
        }
        return 'on';
      case 'webhook': {
        this.#count(1);
        this.#step({ kind: 'run', name: `${op.name} tells`, throws: 0 });
        for (let number = 0; number < op.calls; number += 1)
          this.#posted(1, { method: 'PUT', body: `hook ${number} ü` });
        if (op.calls === 0) this.#posted(1, 'timeout');
        return 'on';
      }
      case 'branch':
        return this.#each(choosesYes(this.#seen) ? op.yes : op.no);
      case 'cancel':
        return 'RUN_CANCELED';
      case 'return':
        return 'RUN_SUCCESS';
      default:
        return this.#step(op);
    }
  }

  #step(step: Step): Next {
    const stage: Effect[] = [];
    this.#stages.push(stage);
    if (step.kind === 'run' && step.ends !== undefined) {
      this.#fail(step.name, step.ends, stage);
      return 'RUN_FAILED';
    }
    const { out, posts } = this.#outcome(step, stage, false);
    this.#posted(posts, out);
    return 'on';
  }

  #group(members: readonly Step[]): Next {
    const stage: Effect[] = [];
    this.#stages.push(stage);
    const failing = members.find((step) => step.kind === 'run' && step.ends !== undefined);
    const before = this.#seen;
    if (failing?.kind === 'run' && failing.ends !== undefined) {
      // The plan of the failing step is delivered; delivery of the others depends on timing.
      this.#count(1);
      this.#fail(failing.name, failing.ends, stage);
      const others = members.filter((step) => step !== failing);
      for (const step of others) this.#posts.most += 1 + this.#outcome(step, stage, true).posts;
      return 'RUN_FAILED';
    }
    const outcomes = members.map((step) => this.#outcome(step, stage, false));
    this.#count(members.length);
    for (const { posts } of outcomes) this.#count(posts);
    const out = outcomes.map((outcome) => outcome.out);
    this.#result.push(out);
    this.#seen = digest(before, JSON.stringify(out));
    return 'on';
  }

  #fail(name: string, ends: 'never' | 'refuses', stage: Effect[]): void {
    const retries = ends === 'never' ? this.program.retries : 0;
    this.#count(retries);
    stage.push({ name, saw: this.#seen, times: 1 + retries, isOptional: false });
    this.#failure = { status: THROWN[ends], message: `${name} ${ends}` };
  }

  /** @returns the step's result and the number of requests that it causes */
  #outcome(step: Step, stage: Effect[], isOptional: boolean): { readonly out: unknown; readonly posts: number } {
    switch (step.kind) {
      case 'run': {
        const { name, throws } = step;
        stage.push({ name, saw: this.#seen, times: 1 + throws, isOptional });
        return { out: digest(this.#seen, name), posts: 1 + throws };
      }
      case 'sleep':
        return { out: null, posts: 1 };
      case 'call': {
        const { status, refusals, retries, name } = step;
        const key = `${this.program.id}-${name}`;
        const isRefused = refusals > retries;
        const isRetried = !isRefused && status >= 400;
        if (!isOptional) this.#calls.set(key, isRefused || isRetried ? retries + 1 : refusals + 1);
        return {
          out: isRefused ? { status: 503, body: { refused: key } } : { status, body: { called: key } },
          posts: 2,
        };
      }
      case 'wait': {
        const eventId = eventOf(this.program, step.name);
        // The outcome of a race is checked against the answer to the notifying client.
        if (step.how === 'race') return { out: 'raced', posts: 1 };
        const out = step.how === 'never' ? { timeout: true } : { eventData: dataOf(eventId), timeout: false };
        return { out, posts: 1 };
      }
      case 'invoke': {
        const run = expectedOf(step.child);
        this.#children.push({ run, isOptional });
        const ended = { isCanceled: run.state === 'RUN_CANCELED', isFailed: run.state === 'RUN_FAILED' };
        return { out: run.state === 'RUN_SUCCESS' ? { body: run.result, ...ended } : ended, posts: 1 };
      }
    }
  }

  #posted(posts: number, out: unknown): void {
    this.#count(posts);
    this.#result.push(out);
    this.#seen = digest(this.#seen, JSON.stringify(out));
  }

  #count(posts: number): void {
    this.#posts.least += posts;
    this.#posts.most += posts;
  }
}
