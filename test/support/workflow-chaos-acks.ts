/**
 * A client that plays the endpoint of runs step by step and records acknowledged calls. A call without an answer is
 * repeated until it is answered. Repetitions must have no further effect.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { QueueProcess, RawAnswer, RawOptions } from './queue-process.js';
import type { SeededRandom } from './seeded-random.js';

type RunEnd = 'RUN_SUCCESS' | 'RUN_CANCELED' | 'RUN_FAILED';

/** The expected state of a run, according to the acknowledged calls. */
export interface AckedRun {
  readonly id: string;
  /** The entries as `<step> <out>`, beginning with the payload. */
  readonly entries: string[];
  /** The event that the run waits for. */
  waitsFor?: string;
  end?: RunEnd;
  response?: string;
  /** The DLQ id of a failed run. */
  dlqId?: string;
}

export interface AckedScript {
  readonly url: string;
  /** The URL of an endpoint that refuses to retry, so that its runs fail permanently. */
  readonly failingUrl: string;
}

const AGAIN_AFTER_MS = 100;
const PACE_MS = 10;
const MAX_STEPS = 5;
const JUDGED_AT_ONCE = 10;
const HEADERS = { 'Svc-Workflow-Sdk-Version': '1', 'Svc-Feature-Set': 'LazyFetch,InitialBody,WF_TriggerOnConfig' };

export class AckingClient {
  readonly runs: AckedRun[] = [];
  /** The numbers of answered calls and of repeated calls without an answer. */
  readonly counts = { acked: 0, unknown: 0 };
  readonly #events: Record<string, number> = {};

  constructor(
    private readonly name: string,
    private readonly queue: QueueProcess,
    private readonly script: AckedScript,
    private readonly random: SeededRandom,
  ) {}

  /** The number of acknowledged calls of each kind. */
  get kinds(): Readonly<Record<string, number>> {
    return this.#events;
  }

  async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const id = `wfr_${this.name}-${this.runs.length}`;
      if (this.random.below(6) === 0) await this.#fail(id);
      else await this.#play(id, signal);
    }
  }

  async #play(id: string, signal: AbortSignal): Promise<void> {
    const run = await this.#trigger(id, this.script.url);
    const steps = this.random.below(MAX_STEPS);
    for (let step = 1; step <= steps && !signal.aborted; step += 1) {
      await pause(PACE_MS);
      const dice = this.random.below(4);
      if (dice < 2) await this.#append(run, step);
      else if (dice === 2) await this.#waitAndNotify(run, step);
      else await this.#storeAndWait(run, step);
    }
    const dice = this.random.below(4);
    if (dice === 0) await this.#wait(run, steps + 1, `${id}-open`);
    if (dice === 0) run.waitsFor = `${id}-open`;
    if (dice === 1) await this.#finish(run);
    if (dice === 2) await this.#cancel(run);
  }

  async #trigger(id: string, url: string): Promise<AckedRun> {
    const body = JSON.stringify({ of: id });
    await this.#repeatUntilAnswered('trigger', 'POST', `/v2/publish/${url}`, {
      headers: this.#headers(id, url, true),
      body,
    });
    const run: AckedRun = { id, entries: [`0 ${body}`] };
    this.runs.push(run);
    return run;
  }

  async #append(run: AckedRun, stepId: number): Promise<void> {
    const { url } = this.script;
    const out = JSON.stringify(`${run.id} ${stepId}`);
    const body = { stepId, stepName: `step ${stepId}`, stepType: 'Run', out, concurrent: 1 };
    await this.#repeatUntilAnswered('append', 'POST', `/v2/publish/${url}`, {
      headers: this.#headers(run.id, url, false),
      body,
    });
    run.entries.push(`${stepId} ${out}`);
  }

  async #wait(run: AckedRun, stepId: number, eventId: string): Promise<void> {
    const { url } = this.script;
    const step = { stepId, stepName: `step ${stepId}`, stepType: 'Wait', concurrent: 1 };
    const headers = this.#headers(run.id, url, false);
    const timeoutHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    const body = { url, timeout: '1h', timeoutUrl: url, timeoutHeaders, step };
    await this.#repeatUntilAnswered('wait', 'POST', `/v2/wait/${eventId}`, { headers, body });
  }

  async #waitAndNotify(run: AckedRun, stepId: number): Promise<void> {
    const eventId = `${run.id}-${stepId}`;
    await this.#wait(run, stepId, eventId);
    const { answer, asked } = await this.#repeatUntilAnswered('notify', 'POST', `/v2/notify/${eventId}`, {
      body: eventId,
    });
    const { length } = answer.json as unknown[];
    // If the call was repeated, the first one may have notified the waiter already.
    if (length !== 1 && asked === 1) throw new Error(`${eventId}: ${length} were notified`);
    run.entries.push(`${stepId} ${Buffer.from(eventId).toString('base64')}`);
  }

  async #storeAndWait(run: AckedRun, stepId: number): Promise<void> {
    const eventId = `${run.id}-${stepId}`;
    await this.#repeatUntilAnswered('stored event', 'POST', `/v2/notify/${run.id}/${eventId}`, { body: eventId });
    await pause(PACE_MS);
    await this.#wait(run, stepId, eventId);
    run.entries.push(`${stepId} ${Buffer.from(eventId).toString('base64')}`);
  }

  async #finish(run: AckedRun): Promise<void> {
    const response = JSON.stringify(`${run.id} is over`);
    await this.#repeatUntilAnswered('finish', 'DELETE', `/v2/workflows/runs/${run.id}?cancel=false`, {
      body: response,
    });
    Object.assign(run, { end: 'RUN_SUCCESS', response });
  }

  async #cancel(run: AckedRun): Promise<void> {
    await this.#repeatUntilAnswered('cancel', 'DELETE', `/v2/workflows/runs/${run.id}?cancel=true`, {}, 404);
    run.end = 'RUN_CANCELED';
  }

  /** Makes a run fail and possibly resumes it as a new run. */
  async #fail(id: string): Promise<void> {
    const run = await this.#trigger(id, this.script.failingUrl);
    run.end = 'RUN_FAILED';
    let dlqId: string | undefined;
    while (dlqId === undefined) {
      const { answer } = await this.#repeatUntilAnswered('failure', 'GET', `/v2/workflows/dlq?workflowRunId=${id}`, {});
      dlqId = (answer.json as { messages: { dlqId: string }[] }).messages[0]?.dlqId;
      await pause(AGAIN_AFTER_MS);
    }
    const dice = this.random.below(3);
    if (dice === 0) run.dlqId = dlqId;
    if (dice === 1) await this.#repeatUntilAnswered('delete', 'DELETE', `/v2/workflows/dlq/${dlqId}`, {}, 404);
    if (dice !== 2) return;
    const { answer } = await this.#repeatUntilAnswered('resume', 'POST', `/v2/workflows/dlq/resume/${dlqId}`, {}, 404);
    // The call was repeated because the answer with the new run was lost.
    if (answer.status === 404) return;
    const { workflowRunId } = answer.json as { workflowRunId: string };
    this.runs.push({ id: workflowRunId, entries: [...run.entries] });
  }

  #headers(id: string, url: string, isTrigger: boolean): Record<string, string> {
    return {
      ...HEADERS,
      'Svc-Workflow-RunId': id,
      'Svc-Workflow-Url': url,
      'Svc-Workflow-Init': String(isTrigger),
      'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
      'Content-Type': 'application/json',
    };
  }

  /**
   * Repeats a call until it is answered. @param also another accepted status of a repeated call. @throws if the call
   * is refused
   */
  async #repeatUntilAnswered(what: string, method: string, target: string, options: RawOptions, also?: number) {
    for (let asked = 1; ; asked += 1) {
      const answer = await this.queue.request(method, target, options).catch((): RawAnswer | undefined => undefined);
      if (answer !== undefined && answer.status < 500) {
        const isGood = answer.status < 300 || (asked > 1 && answer.status === also);
        if (!isGood) throw new Error(`${what} ${target} answers ${answer.status} ${answer.text}`);
        this.counts.acked += 1;
        this.#events[what] = (this.#events[what] ?? 0) + 1;
        return { answer, asked };
      }
      this.counts.unknown += 1;
      await pause(AGAIN_AFTER_MS);
    }
  }
}

/** Compares the server's state with the acknowledged calls. @returns one line for each violation */
export async function judgeAcks(runs: readonly AckedRun[], queue: QueueProcess): Promise<string[]> {
  const violations: string[] = [];
  for (let from = 0; from < runs.length; from += JUDGED_AT_ONCE) {
    const some = runs.slice(from, from + JUDGED_AT_ONCE);
    const found = await Promise.all(some.map((run) => judgeRun(run, queue)));
    for (const [at, run] of some.entries()) violations.push(...(found[at] ?? []).map((line) => `${run.id} ${line}`));
  }
  return violations;
}

async function judgeRun({ id, entries, end, waitsFor, dlqId }: AckedRun, queue: QueueProcess): Promise<string[]> {
  const violations: string[] = [];
  const { status, json } = await queue.get(`/v2/workflows/runs/${id}`);
  if (end !== undefined) {
    if (status !== 404) violations.push(`is ${end}, and its entries are answered with ${status}`);
  } else {
    const found = status === 200 ? (json as { body: string }[]).map(({ body }, at) => lineOf(body, at)) : [`${status}`];
    if (found.join('; ') !== entries.join('; '))
      violations.push(`has ${found.join('; ')} instead of ${entries.join('; ')}`);
  }
  if (waitsFor !== undefined) {
    const waiters = (await queue.get(`/v2/waiters/${waitsFor}`)).json as unknown[];
    if (waiters.length !== 1) violations.push(`waits for ${waitsFor}, and ${waiters.length} do`);
  }
  if (end === 'RUN_FAILED') {
    const listed = (await queue.get(`/v2/workflows/dlq?workflowRunId=${id}`)).json as { messages: { dlqId: string }[] };
    const found = listed.messages.map((entry) => entry.dlqId).join();
    if (found !== (dlqId ?? '')) violations.push(`is in the DLQ as ${found}, not as ${dlqId}`);
  }
  return violations;
}

function lineOf(base64: string, at: number): string {
  const text = Buffer.from(base64, 'base64').toString();
  if (at === 0) return `0 ${text}`;
  const { stepId, out } = JSON.parse(text) as { stepId: number; out: string };
  return `${stepId} ${out}`;
}
