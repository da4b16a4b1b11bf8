/**
 * The check of one recorded run: plays its steps to an endpoint, and finds the first one that the endpoint would not
 * continue from.
 *
 * An endpoint executes the step after the list that it gets. So the lists end with a guard (guard.ts), except where the
 * recorded next step has no code in the endpoint: calls, invoked runs, waits, sleeps and announcements of groups. With
 * `executes`, every list ends with recorded steps, and the endpoint executes the code of each next step.
 *
 *  RCH1 without `executes`, an endpoint that compares records executes no code of a step
 *  RCH2 a run is compatible only after an answer of the endpoint that shows it
 */
import { type Difference, differenceOf, kindOf, urlDifference, wordsForUnit } from './expectation.js';
import { answerOf, type Guard, guardRecord, type Play, type PlayAnswer } from './guard.js';
import type { RecordedRun, RecordedStep, Unit } from './recorded-run.js';

export type CheckOutcome = 'compatible' | 'differs' | 'breaks' | 'unknown';

export interface RunVerdict {
  readonly outcome: CheckOutcome;
  readonly differences: readonly Difference[];
  /** Why the outcome is unknown. */
  readonly reason?: string | undefined;
}

/** The endpoint, as far as the checks of a call know it. */
export interface CheckedEndpoint {
  /** Does it compare the name and type of a record with its step? Undefined: not known yet. */
  compares: boolean | undefined;
}

/** Further URLs of one run are not compared: a loop of calls has the same URL each time. */
const MAX_COMPARED_URLS = 20;
const OTHER_TEXT = 'the endpoint does not compare the names of records with its steps; execute the steps to check it';

type PlayList = (entries: readonly Uint8Array[]) => Promise<Play>;
type Failing = Extract<PlayAnswer, { kind: 'unknown' }>;

export class RunCheck {
  readonly #answers = new Map<number, Promise<PlayAnswer>>();

  constructor(
    private readonly run: RecordedRun,
    private readonly guard: Guard,
    private readonly endpoint: CheckedEndpoint,
    private readonly play: PlayList,
  ) {}

  async check(executes: boolean): Promise<RunVerdict> {
    return executes ? this.#checkByExecution() : this.#checkByGuard();
  }

  async #checkByGuard(): Promise<RunVerdict> {
    if (this.endpoint.compares === false) return unknown(OTHER_TEXT);
    const { units } = this.run;
    let answer = await this.#after(units.length);
    if (answer.kind === 'refuses') {
      // Its own request may have failed by chance, for example during a takeover.
      this.#answers.delete(units.length);
      answer = await this.#after(units.length);
    }
    switch (answer.kind) {
      case 'unknown':
        return unknown(answer.text);
      case 'request':
        this.endpoint.compares = false;
        return unknown(OTHER_TEXT);
      case 'refuses':
        return this.#refusedAt(await this.#first((other) => other.kind === 'refuses'), answer.text);
      case 'ends':
        return this.#ended();
      case 'continues':
        this.endpoint.compares = true;
        return this.#continued(answer);
    }
  }

  /** The function returns after the recorded steps, or already before the last ones. */
  async #ended(): Promise<RunVerdict> {
    const { units, next, state } = this.run;
    const last = units.length - 1;
    if (last >= 0) {
      const before = await this.#after(last);
      if (before.kind === 'unknown') return unknown(before.text);
      if (before.kind === 'ends') {
        if (!(await this.#comparesRecords())) return unknown(OTHER_TEXT);
        return this.#missing(units[await this.#first((other) => other.kind === 'ends')]);
      }
      if (before.kind === 'request') {
        this.endpoint.compares = false;
        return unknown(OTHER_TEXT);
      }
      if (before.kind === 'continues') this.endpoint.compares = true;
    }
    if (next !== undefined && state === 'RUN_STARTED') return this.#missing(next);
    return this.#withUrls();
  }

  async #continued(answer: Extract<PlayAnswer, { kind: 'continues' }>): Promise<RunVerdict> {
    const { next } = this.run;
    if (next === undefined) return this.#withUrls();
    const isGroup = next.steps.length > 1;
    const [step] = next.steps;
    if (step === undefined || isGroup !== answer.isGroup) return this.#refused(next, shownOf(answer.text, this.guard));
    const ahead = isGroup ? undefined : await this.#likeGuard(step);
    if (ahead !== undefined) return ahead;
    return this.#withUrls(await this.#differenceAt(next, this.#listOf(this.run.units)));
  }

  /** A guard with the name of the step, so that a step of another name or type is found without executing it. */
  async #likeGuard(step: RecordedStep): Promise<RunVerdict | undefined> {
    const list = [...this.#listOf(this.run.units), guardRecord(this.guard, step.stepId, step)];
    const answer = answerOf(await this.play(list), this.guard);
    if (answer.kind === 'unknown') return unknown(answer.text);
    if (answer.kind === 'continues') {
      const isOfType = answer.text.replaceAll(step.stepName, '').includes(step.stepType);
      return isOfType ? undefined : breaks([refusal(step, shownOf(answer.text, this.guard))]);
    }
    return breaks([refusal(step, answer.kind === 'refuses' ? answer.text : 'the endpoint has another step there')]);
  }

  /** Compares the URLs of calls and invoked runs; the steps of the endpoint fit. */
  async #withUrls(before?: Difference | Failing): Promise<RunVerdict> {
    if (before !== undefined && 'kind' in before) return unknown(before.text);
    const found: Difference[] = before === undefined ? [] : [before];
    let left = MAX_COMPARED_URLS;
    for (const [at, unit] of this.run.units.entries()) {
      for (const step of unit.steps) {
        if (step.url === undefined || left === 0) continue;
        left -= 1;
        const list = this.#listOf(this.run.units.slice(0, at));
        const one = await this.#differenceOfStep(step, unit, list);
        if (one !== undefined && 'kind' in one) return unknown(one.text);
        if (one !== undefined) found.push(one);
      }
    }
    return verdictOf(found);
  }

  /** A member of a group is executed after a list that ends with its announcement. */
  async #differenceOfStep(
    step: RecordedStep,
    unit: Unit,
    before: readonly Uint8Array[],
  ): Promise<Difference | Failing | undefined> {
    if (unit.steps.length === 1) return this.#differenceAt(unit, before);
    const announced = unit.entries.filter((entry) => entry.step.stepId === 0);
    const own = announced.filter((entry) => entry.step.targetStep === step.stepId);
    if (own.length === 0) return undefined;
    const others = announced.filter((entry) => entry.step.targetStep !== step.stepId);
    const answer = answerOf(await this.play([...before, ...[...others, ...own].map(({ body }) => body)]), this.guard);
    if (answer.kind !== 'request') return differing(step, answer);
    if (answer.request.kind !== kindOf(step)) return differenceOf({ steps: [step], entries: [] }, answer.request);
    return urlDifference(step, answer.request);
  }

  async #differenceAt(unit: Unit, before: readonly Uint8Array[]): Promise<Difference | Failing | undefined> {
    const answer = answerOf(await this.play(before), this.guard);
    return answer.kind === 'request' ? differenceOf(unit, answer.request) : differing(unit.steps[0], answer, unit);
  }

  async #checkByExecution(): Promise<RunVerdict> {
    const { units, next, state } = this.run;
    for (let at = 0; at <= units.length; at += 1) {
      const expected = at < units.length ? units[at] : next;
      // Its code notifies other runs, which a check must not do.
      if (expected?.steps.some(({ stepType }) => stepType === 'Notify')) continue;
      if (expected === undefined && state !== 'RUN_SUCCESS') break;
      const answer = answerOf(await this.play(this.#listOf(units.slice(0, at))), this.guard);
      if (answer.kind === 'unknown') return unknown(answer.text);
      const found = expected === undefined ? afterEnd(answer) : ofAnswer(expected, answer);
      if (found !== undefined) return verdictOf([found]);
    }
    return { outcome: 'compatible', differences: [] };
  }

  /** The answer to the first units and a guard. */
  #after(count: number): Promise<PlayAnswer> {
    const known = this.#answers.get(count);
    if (known !== undefined) return known;
    const units = this.run.units.slice(0, count);
    const stepId = (units.at(-1)?.steps.at(-1)?.stepId ?? 0) + 1;
    const list = [...this.#listOf(units), guardRecord(this.guard, stepId)];
    const answer = this.play(list).then((play) => answerOf(play, this.guard));
    this.#answers.set(count, answer);
    return answer;
  }

  /** The lowest number of units with such an answer; it is known for all units, and holds for all after the first. */
  async #first(isSuch: (answer: PlayAnswer) => boolean): Promise<number> {
    let low = 0;
    let high = this.run.units.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isSuch(await this.#after(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Puts a guard into the place of the first of several units: only an endpoint that compares refuses it. */
  async #comparesRecords(): Promise<boolean> {
    if (this.endpoint.compares !== undefined) return this.endpoint.compares;
    const [first, ...others] = this.run.units;
    const [step] = first?.steps ?? [];
    if (step === undefined || others.length === 0) return false;
    const [payload, ...records] = this.#listOf(others);
    const list = [payload as Uint8Array, guardRecord(this.guard, step.stepId), ...records];
    const answer = answerOf(await this.play(list), this.guard);
    this.endpoint.compares = answer.kind === 'continues';
    return this.endpoint.compares;
  }

  #listOf(units: readonly Unit[]): readonly Uint8Array[] {
    return [this.run.payload, ...units.flatMap(({ entries }) => entries.map(({ body }) => body))];
  }

  #refusedAt(count: number, text: string): RunVerdict {
    return this.#refused(this.run.units[Math.max(0, count - 1)] ?? this.run.next, text);
  }

  #refused(unit: Unit | undefined, text: string): RunVerdict {
    return breaks([refusal(unit?.steps[0], text)]);
  }

  #missing(unit: Unit | undefined): RunVerdict {
    const text = `the endpoint ends the run before ${unit === undefined ? 'its last step' : wordsForUnit(unit)}`;
    return breaks([{ step: unit?.steps[0], breaks: true, text }]);
  }
}

export function unknown(reason: string): RunVerdict {
  return { outcome: 'unknown', differences: [], reason };
}

function breaks(differences: readonly Difference[]): RunVerdict {
  return { outcome: 'breaks', differences };
}

function verdictOf(differences: readonly Difference[]): RunVerdict {
  const isBreak = differences.some((one) => one.breaks);
  return { outcome: isBreak ? 'breaks' : differences.length > 0 ? 'differs' : 'compatible', differences };
}

function refusal(step: RecordedStep | undefined, text: string): Difference {
  return { step, breaks: true, text };
}

function ofAnswer(unit: Unit, answer: Exclude<PlayAnswer, Failing>): Difference | undefined {
  if (answer.kind === 'request') return differenceOf(unit, answer.request);
  const found = differing(unit.steps[0], answer, unit);
  return found !== undefined && 'kind' in found ? undefined : found;
}

/** The recorded run ends here. */
function afterEnd(answer: Exclude<PlayAnswer, Failing>): Difference | undefined {
  return answer.kind === 'refuses' ? refusal(undefined, answer.text) : undefined;
}

function differing(step: RecordedStep | undefined, answer: PlayAnswer, unit?: Unit): Difference | Failing | undefined {
  switch (answer.kind) {
    case 'unknown':
      return answer;
    case 'ends': {
      const words = unit === undefined ? 'this step' : wordsForUnit(unit);
      return refusal(step, `the endpoint ends the run before ${words}`);
    }
    case 'refuses':
    case 'continues':
      return refusal(step, answer.text);
    case 'request':
      return undefined;
  }
}

/** The endpoint's words about the guard, without its word. */
function shownOf(text: string, { word, number }: Guard): string {
  return text.replaceAll(word, 'the guard of the check').replaceAll(String(number), '1');
}
