/** External clients that notify runs of events and call their webhooks. The ledger calls them at the right moment. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerWatcher } from './workflow-ledger.js';
import { dataOf } from './workflow-programs.js';

export type RaceOutcome = 'met' | 'missed' | 'unknown';

const AGAIN_AFTER_MS = 200;
const CALL_TIMEOUT_MS = 10_000;
/** The time limit of a webhook call. It is long, because a repeated call may count as a second one. */
const HOOK_TIMEOUT_MS = 60_000;
/** The range of delays around the timeout of a wait of one second. */
const RACE = { fromMs: 900, withinMs: 300 };

export class OutsideAgents implements LedgerWatcher {
  /** The result of each notification that races with a timeout. */
  readonly races = new Map<string, RaceOutcome>();
  /** The number of accepted webhook calls. */
  hooked = 0;
  /** The number of webhook calls that had no answer or a refusal; each may have been accepted. */
  repeatedHooks = 0;
  readonly #begun = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #over = new AbortController();

  /** @param dice random numbers in [0, 1) */
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly dice: () => number,
    /** Returns true if the run's wait for the event has ended. */
    private readonly isWaited: (runId: string, eventId: string) => boolean,
  ) {}

  /** Sends an event before the run waits for it, so that the server keeps it. */
  notifyEarly(runId: string, eventId: string): void {
    this.#once(`${runId} ${eventId}`, () =>
      this.#until(async () => {
        const records = await this.#notified(`/v2/notify/${runId}/${eventId}`, eventId);
        return records !== undefined;
      }),
    );
  }

  onWait(eventId: string, how: string, runId: string): void {
    // A resumed run does not get the notifications of the failed run.
    if (how === 'early') this.notifyEarly(runId, eventId);
    if (how === 'met') this.#once(`${runId} ${eventId}`, () => this.#meet(runId, eventId));
    if (how === 'race') this.#once(eventId, () => this.#race(eventId));
  }

  onHook(url: string, calls: number): void {
    this.#once(url, async () => {
      for (let number = 0; number < calls; number += 1) {
        await this.#until(async () => {
          const answer = await this.#fetch(url, { method: 'PUT', body: `hook ${number} ü` }, HOOK_TIMEOUT_MS);
          if (answer?.ok) this.hooked += 1;
          // The answer 404 means that the run has ended.
          const isDone = answer?.ok || answer?.status === 404;
          if (!isDone) this.repeatedHooks += 1;
          return isDone;
        });
      }
    });
  }

  /** Stops all clients; calls that have not succeeded are given up. */
  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#tasks);
  }

  /** Returns true if no notification or webhook call is left to send. */
  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /** Sends the event only when a run waits for it. */
  async #meet(runId: string, eventId: string): Promise<void> {
    await this.#until(async () => {
      if (this.isWaited(runId, eventId)) return true;
      const waiters = await this.#json('GET', `/v2/waiters/${eventId}`);
      if (waiters?.length === 0) return false;
      const records = waiters && (await this.#notified(`/v2/notify/${eventId}`, eventId));
      return records !== undefined && records.length > 0;
    });
  }

  async #race(eventId: string): Promise<void> {
    // A fixed time is correct here: the race is against the server's clock, so there is no condition to wait for.
    await pause(RACE.fromMs + this.dice() * RACE.withinMs);
    const records = await this.#notified(`/v2/notify/${eventId}`, eventId);
    this.races.set(eventId, records === undefined ? 'unknown' : records.length > 0 ? 'met' : 'missed');
  }

  /** @returns the records, or undefined if the outcome is unknown */
  #notified(path: string, eventId: string): Promise<readonly unknown[] | undefined> {
    const data = dataOf(eventId);
    return this.#json('POST', path, typeof data === 'string' ? data : JSON.stringify(data));
  }

  async #json(method: string, path: string, body?: string): Promise<readonly unknown[] | undefined> {
    const headers = { Authorization: `Bearer ${this.token}` };
    const answer = await this.#fetch(this.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!answer?.ok) return undefined;
    return answer.json().catch(() => undefined) as Promise<readonly unknown[] | undefined>;
  }

  /** @returns the answer, or undefined if there was none */
  #fetch(url: string, init: RequestInit, timeoutMs = CALL_TIMEOUT_MS): Promise<Response | undefined> {
    return fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(() => undefined);
  }

  async #until(attempt: () => Promise<boolean | undefined>): Promise<void> {
    while (!this.#over.signal.aborted && !(await attempt())) await pause(AGAIN_AFTER_MS);
  }

  #once(what: string, task: () => Promise<void>): void {
    if (this.#begun.has(what)) return;
    this.#begun.add(what);
    const running = task().finally(() => this.#tasks.delete(running));
    this.#tasks.add(running);
  }
}
