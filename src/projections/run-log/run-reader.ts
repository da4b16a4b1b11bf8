/**
 * Pages of runs and of their events. A page ends at the requested count, at `MAX_RUN_PAGE_BYTES` or at its time
 * limit, and names the start of the next one. Each generator step takes a few milliseconds.
 */
import type { MessageFilter } from '../../domain/queue/index.js';
import type { AccountId, DlqId } from '../../kernel/index.js';
import type {
  Counts,
  LoggedRun,
  LoggedStep,
  RunEntries,
  RunEntriesQuery,
  RunEvent,
  RunEventPage,
  RunEventQuery,
  RunEventState,
  RunLogFilter,
  RunPage,
  RunQuery,
  SqlFile,
  SqlRow,
  StepGroup,
  StepInfo,
  StoredEntry,
} from '../../ports/index.js';
import { type LogPlace, placeOf, rangeOf, textOf } from '../log-rows/log-places.js';
import { counted } from '../log-rows/row-counts.js';
import { type Key, RowSearch, type SearchStep } from '../log-rows/row-search.js';
import { type Prepared, prepared } from '../statements.js';
import { MAX_RUN_PAGE_BYTES, RedactedTexts, shownError } from './redacted-texts.js';
import type { RunDelivery } from './run-groups.js';
import { type RunHead, RunParts, runRecordOf } from './run-parts.js';
import { RunRecord } from './run-records.js';
import { MESSAGE_ROLES, RUN_EVENT_NUMBERS, RUN_STATE_NUMBERS } from './schema.js';
import { stepContentsOf } from './step-records.js';

const EVENT_STATES = new Map(
  Object.entries(RUN_EVENT_NUMBERS).map(([state, number]) => [number, state as RunEventState]),
);
const RUN_STATES_BY_NUMBER = new Map(Object.entries(RUN_STATE_NUMBERS).map(([state, number]) => [number, state]));
const CALL_TYPES = new Map<number, StepInfo['callType']>([
  [MESSAGE_ROLES.step, 'step'],
  [MESSAGE_ROLES.call, 'toCallback'],
  [MESSAGE_ROLES.result, 'fromCallback'],
  [MESSAGE_ROLES.failure, 'failureCall'],
]);
/** The number of runs with one id, or one creation time, that are searched. */
const MAX_NARROWED = 1000;
/** Steps after which a page of runs ends: their records are small without bodies, but a run may have thousands. */
const MAX_PAGE_STEPS = 5_000;
/** Events between two pauses. */
const STEP_EVENTS = 20;

export class RunReader {
  readonly #runs: RowSearch;
  readonly #events: RowSearch;
  readonly #parts: RunParts;
  readonly #sql: Prepared<typeof STATEMENTS>;

  constructor(file: SqlFile) {
    this.#runs = new RowSearch(file, 'runs');
    this.#events = new RowSearch(file, 'run_events');
    this.#parts = new RunParts(file);
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * @param isLate called after each run
   * @throws INVALID for an invalid cursor
   */
  *runs(name: AccountId, query: RunQuery, isLate: () => boolean): Generator<void, RunPage> {
    const { filter, count, cursor, states, stepStates, trimBytes } = query;
    const range = rangeOf(createdWithin(filter), 'latestFirst', cursor === undefined ? undefined : placeOf(cursor));
    const account = this.#account(name);
    const runs: LoggedRun[] = [];
    if (account === undefined || count <= 0) return { runs, cursor: undefined };
    const found = this.#found(account, { filter, states, range });
    const parts = this.#parts;
    const texts = new RedactedTexts(trimBytes);
    let steps = 0;
    let last: LogPlace | undefined;
    for (const { place, row } of found) {
      if (row !== undefined) {
        const isFull = steps >= MAX_PAGE_STEPS || texts.bytes >= MAX_RUN_PAGE_BYTES;
        if (runs.length >= count || isFull) return { runs, cursor: last && textOf(last) };
        // Rows may have been added or removed since the previous step.
        parts.begin();
        const head = parts.headOf(row.id as number);
        const run = head && (yield* RunRecord.made(head, parts, texts));
        if (run !== undefined && hasStepIn(run, stepStates)) {
          runs.push(run);
          steps += run.groups.reduce((sum, group) => sum + stepsOf(group).length, 0);
        }
      }
      last = place;
      if (isLate()) return { runs, cursor: textOf(place) };
      yield;
    }
    return { runs, cursor: undefined };
  }

  /** The run as it was stored, for another run. */
  *entries(name: AccountId, { runId, createdAtMs, maxBytes }: RunEntriesQuery): Generator<void, RunEntries> {
    const account = this.#account(name);
    const [id] =
      (account === undefined ? undefined : this.#narrowed(account, { runs: [{ runId, createdAtMs }] })) ?? [];
    this.#parts.begin();
    const head = id === undefined ? undefined : this.#parts.headOf(id);
    if (head === undefined) return { run: undefined };
    const { entries: deliveries } = yield* this.#parts.contents(head, undefined);
    const entries: StoredEntry[] = [];
    let left = maxBytes;
    for (const { place, step, body, bodyBytes, createdAtMs: atMs } of deliveries) {
      // An entry with another place follows one that has left the journal.
      left = place === entries.length ? left - bodyBytes : -1;
      entries.push({ step, body: left < 0 ? undefined : this.#parts.body(body), createdAtMs: atMs });
      yield;
    }
    const { state, envelope } = head;
    return { run: { runId: head.runId, createdAtMs: head.createdAtMs, state, envelope, entries } };
  }

  /** @param isLate called after each step */
  *counts(name: AccountId, filter: RunLogFilter, isLate: () => boolean): Generator<void, Counts> {
    const account = this.#account(name);
    if (account === undefined) return { counts: {}, isWhole: true };
    const found = this.#found(account, {
      filter,
      states: [],
      range: rangeOf(createdWithin(filter), 'latestFirst', undefined),
    });
    return yield* counted(found, isLate, ({ state }) => RUN_STATES_BY_NUMBER.get(state as number) ?? String(state));
  }

  #found(
    account: number,
    { filter, states, range }: Pick<RunQuery, 'filter' | 'states'> & { readonly range: ReturnType<typeof rangeOf> },
  ): Generator<SearchStep> {
    const ids = this.#narrowed(account, filter);
    return this.#runs.run({
      account,
      filter: facetsOf(filter),
      states: states.map((state) => RUN_STATE_NUMBERS[state]),
      order: 'latestFirst',
      ...range,
      only: ids?.map((id): Key => ({ by: 'id', values: [id, account] })),
      accept: (row) => row.is_hidden === 0,
    });
  }

  /**
   * @param isLate called after each step
   * @throws INVALID for an invalid cursor
   */
  *events(name: AccountId, query: RunEventQuery, isLate: () => boolean): Generator<void, RunEventPage> {
    const { filter, count, cursor, states, order, trimBytes } = query;
    const range = rangeOf(filter, order, cursor === undefined ? undefined : placeOf(cursor));
    const account = this.#account(name);
    const events: RunEvent[] = [];
    if (account === undefined || count <= 0) return { events, cursor: undefined };
    const ids = this.#narrowed(account, filter) ?? this.#createdAt(account, filter.createdAtMs);
    const messages = filter.messageId && new Set(this.#messages(account, filter.messageId).map(({ id }) => id));
    const found = this.#events.run({
      account,
      filter: facetsOf(filter),
      states: states.map((state) => RUN_EVENT_NUMBERS[state]),
      order,
      ...range,
      only: ids?.map((id): Key => ({ by: 'run', values: [id, account] })),
      accept: (row) => messages === undefined || messages.has(row.message as number),
    });
    this.#parts.begin();
    const texts = new RedactedTexts(trimBytes);
    const heads = new Map<number, RunHead | undefined>();
    let last: LogPlace | undefined;
    for (const { place, row } of found) {
      if (row === undefined) {
        if (isLate()) return { events, cursor: textOf(place) };
        yield;
      } else {
        if (events.length >= count || texts.bytes >= MAX_RUN_PAGE_BYTES)
          return { events, cursor: last && textOf(last) };
        const id = row.run as number;
        if (!heads.has(id)) heads.set(id, this.#parts.headOf(id));
        const head = heads.get(id);
        const isWanted = filter.createdAtMs === undefined || head?.createdAtMs === filter.createdAtMs;
        if (head !== undefined && isWanted) events.push({ ...this.#event(row, head, texts), ...texts.takeCut() });
        if (isLate()) return { events, cursor: textOf(place) };
        if (events.length % STEP_EVENTS === 0) yield;
      }
      last = place;
    }
    return { events, cursor: undefined };
  }

  #event(row: SqlRow, head: RunHead, texts: RedactedTexts): RunEvent {
    const state = EVENT_STATES.get(row.state as number) as RunEventState;
    const message = row.message === 0 ? undefined : this.#parts.message(row.message as number);
    const response = row.response === null ? undefined : this.#parts.response(row.response as number);
    const isEnd = state === 'RUN_SUCCESS' || state === 'RUN_FAILED';
    const ending = isEnd ? this.#parts.ending(head.id) : undefined;
    const { redact } = head.envelope.settings;
    return {
      ...runRecordOf(head),
      atMs: row.at_ms as number,
      state,
      step: message && this.#step(message, head, texts, state === 'CREATED'),
      header: message === undefined ? [] : texts.header(message.envelope.settings.header, redact),
      nextDeliveryAtMs: row.next_ms === null ? undefined : (row.next_ms as number),
      error: row.error === null ? undefined : shownError(row.error as string, response?.status ?? statusIn(row)),
      response: response && {
        status: response.status,
        header: texts.header(response.header, redact?.response),
        body: texts.response(response.header, response.body, redact?.response),
      },
      invoker: state === 'RUN_STARTED' ? head.invoker : undefined,
      runResponse: ending?.response && texts.body(ending.response, redact),
      dlqId: state === 'RUN_FAILED' ? (ending?.dlqId as DlqId | undefined) : undefined,
    };
  }

  #step(message: RunDelivery, head: RunHead, texts: RedactedTexts, isCreation: boolean): StepInfo {
    const { messageId, step, role, body } = message;
    const { redact } = head.envelope.settings;
    const isEntry = isCreation && role === MESSAGE_ROLES.step && !texts.isSilent;
    const content = isEntry ? this.#parts.body(body) : undefined;
    const isInit = role === MESSAGE_ROLES.step && step === undefined;
    const out = content && !isInit ? stepContentsOf(content).out : undefined;
    return {
      messageId,
      stepId: step?.stepId === 0 ? step.targetStep : step?.stepId,
      stepName: step?.stepName ?? (role === MESSAGE_ROLES.failure ? 'failure' : 'init'),
      stepType: step?.stepType ?? 'Initial',
      callType: CALL_TYPES.get(role) ?? 'step',
      concurrent: step?.concurrent ?? 1,
      out: isInit && content !== undefined ? texts.body(content, redact) : out && texts.text(out, redact),
    };
  }

  /** Runs that the filter names directly or by their messages; undefined: it names none. */
  #narrowed(account: number, { runs, messageId }: RunLogFilter): readonly number[] | undefined {
    const named = runs?.flatMap(({ runId, createdAtMs }) =>
      this.#sql.named
        .all([account, runId, createdAtMs ?? 0, createdAtMs ?? Number.MAX_SAFE_INTEGER, MAX_NARROWED])
        .map(({ id }) => id as number),
    );
    const ofMessages = messageId && this.#messages(account, messageId).map(({ run }) => run);
    if (named === undefined || ofMessages === undefined) return unique(named ?? ofMessages);
    return unique(named.filter((id) => ofMessages.includes(id)));
  }

  #createdAt(account: number, createdAtMs: number | undefined): readonly number[] | undefined {
    if (createdAtMs === undefined) return undefined;
    return this.#sql.created.all([account, createdAtMs, MAX_NARROWED]).map(({ id }) => id as number);
  }

  #messages(account: number, names: readonly string[]): { readonly id: number; readonly run: number }[] {
    return names.flatMap((name) =>
      this.#sql.messages
        .all([name, account, MAX_NARROWED])
        .map(({ id, run }) => ({ id: id as number, run: run as number })),
    );
  }

  #account(name: AccountId): number | undefined {
    return this.#sql.account.get([name])?.id as number | undefined;
  }
}

const STATEMENTS = {
  account: 'SELECT id FROM accounts WHERE name = ?',
  named: `SELECT id FROM runs INDEXED BY runs_by_name WHERE account = ? AND name = ? AND at_ms BETWEEN ? AND ?
    ORDER BY at_ms DESC LIMIT ?`,
  created: 'SELECT id FROM runs INDEXED BY runs_by_place WHERE account = ? AND at_ms = ? LIMIT ?',
  messages: `SELECT id, run FROM run_messages INDEXED BY run_messages_by_name WHERE name = ? AND account = ?
    ORDER BY id DESC LIMIT ?`,
} as const;

/** The range of creation times that the filter allows; a given creation time is a range of one instant. */
function createdWithin({ fromMs, toMs, createdAtMs }: RunLogFilter) {
  if (createdAtMs === undefined) return { fromMs, toMs };
  return { fromMs: Math.max(createdAtMs, fromMs ?? 0), toMs: Math.min(createdAtMs, toMs ?? createdAtMs) };
}

function facetsOf({ url, host, path, label, flowControlKey, callerIp }: RunLogFilter): MessageFilter {
  return {
    ...(url && { url }),
    ...(host && { host }),
    ...(path && { path }),
    ...(label && { label }),
    ...(flowControlKey && { flowControlKey }),
    ...(callerIp && { callerIp }),
  };
}

function hasStepIn({ groups }: LoggedRun, states: RunQuery['stepStates']): boolean {
  if (states.length === 0) return true;
  return groups.some((group) => stepsOf(group).some(({ state }) => states.includes(state)));
}

function stepsOf(group: StepGroup): readonly Pick<LoggedStep, 'state'>[] {
  return group.type === 'next' ? group.deliveries : group.steps;
}

/** The reason of a retry or of the end contains the status. */
function statusIn({ error }: SqlRow): number {
  const match = /^HTTP status (\d+)$/.exec(error as string);
  return match === null ? 0 : Number(match[1]);
}

function unique(ids: readonly number[] | undefined): readonly number[] | undefined {
  return ids && [...new Set(ids)];
}
