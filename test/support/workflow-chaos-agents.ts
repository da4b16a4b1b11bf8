/** Whoever is outside: notifies runs of events, and calls their webhooks, when the ledger says that it is time. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerWatcher } from './workflow-ledger.js';
import { dataOf } from './workflow-programs.js';

export type RaceOutcome = 'met' | 'missed' | 'unknown';

const AGAIN_AFTER_MS = 200;
const CALL_TIMEOUT_MS = 10_000;
/** A webhook's call that is repeated may be a second one, so on a busy machine its answer is waited for. */
const HOOK_TIMEOUT_MS = 60_000;
/** About when a wait of a second is over. */
const RACE = { fromMs: 900, withinMs: 300 };

export class OutsideAgents implements LedgerWatcher {
  /** What the one who notified of an event just in time was told. */
  readonly races = new Map<string, RaceOutcome>();
  /** Calls of webhooks that were accepted. */
  hooked = 0;
  /** Calls of webhooks without an answer, or with a refusal: each may have been accepted. */
  repeatedHooks = 0;
  readonly #begun = new Set<string>();
  readonly #tasks = new Set<Promise<void>>();
  readonly #over = new AbortController();

  /** @param dice in [0, 1) */
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly dice: () => number,
    /** The run does not wait for the event any more. */
    private readonly isWaited: (runId: string, eventId: string) => boolean,
  ) {}

  /** Keeps an event for a run that does not wait yet, most likely. */
  notifyEarly(runId: string, eventId: string): void {
    this.#once(`${runId} ${eventId}`, () =>
      this.#until(async () => {
        const records = await this.#notified(`/v2/notify/${runId}/${eventId}`, eventId);
        return records !== undefined;
      }),
    );
  }

  onWait(eventId: string, how: string, runId: string): void {
    // One that was resumed has not heard what the one before it was told.
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
          // 404: its run has ended.
          const isDone = answer?.ok || answer?.status === 404;
          if (!isDone) this.repeatedHooks += 1;
          return isDone;
        });
      }
    });
  }

  /** Those who have not got through give up. */
  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#tasks);
  }

  /** Nobody is left who has something to tell. */
  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /** Waits until somebody waits, so that the event finds one. */
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
    // The race is against the server's clock: there is no condition to wait for.
    await pause(RACE.fromMs + this.dice() * RACE.withinMs);
    const records = await this.#notified(`/v2/notify/${eventId}`, eventId);
    this.races.set(eventId, records === undefined ? 'unknown' : records.length > 0 ? 'met' : 'missed');
  }

  /** @returns the records; undefined: nobody knows */
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

  /** Undefined: no answer came. */
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
