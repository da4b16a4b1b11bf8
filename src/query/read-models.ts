/**
 * Both ends of questions to the read models: `ReadModelsClient` sends them as bytes, `answer` answers them where the
 * tables are. The transport between them (a thread, a bus) sees only bytes.
 */
import type { DlqSelector, MessageFilter } from '../domain/queue/index.js';
import { type AccountId, unreachable } from '../kernel/index.js';
import type {
  Backlog,
  BacklogQuery,
  Counts,
  DlqPage,
  DlqRow,
  LogEvent,
  LoggedRun,
  LogPage,
  LogQuery,
  MessageLog,
  MessageState,
  RunEntries,
  RunEntriesQuery,
  RunEvent,
  RunEventPage,
  RunEventQuery,
  RunLog,
  RunLogFilter,
  RunPage,
  RunQuery,
  Statistics,
} from '../ports/index.js';
import { type Ask, type OnBehind, reportIfBehind } from './ask.js';
import {
  decodePlain,
  decodeQuestion,
  decodeSharedPage,
  encodePlain,
  encodeQuestion,
  encodeSharedPage,
  type Page,
  type Question,
} from './question-codec.js';
import { answerStatistics } from './statistics.js';

export class ReadModelsClient implements MessageLog, RunLog {
  constructor(
    private readonly ask: Ask,
    private readonly onBehind?: OnBehind,
  ) {}

  async events(account: AccountId, query: LogQuery, seen: number): Promise<LogPage> {
    const page = decodeSharedPage<LogEvent>(await this.#ask({ kind: 'events', account, query, seen }));
    const { items: events, next: cursor, ...behind } = this.#told(page);
    return { events, cursor, ...behind };
  }

  async dlq(account: AccountId, selector: DlqSelector, seen: number, trimBytes?: number): Promise<DlqPage> {
    const page = decodeSharedPage<DlqRow>(await this.#ask({ kind: 'dlq', account, selector, seen, trimBytes }));
    const { items: entries, next, ...behind } = this.#told(page);
    return { entries, after: next as DlqPage['after'], ...behind };
  }

  async runs(account: AccountId, query: RunQuery, seen: number): Promise<RunPage> {
    const page = decodePlain<Page<LoggedRun>>(await this.#ask({ kind: 'runs', account, query, seen }));
    const { items: runs, next: cursor, ...behind } = this.#told(page);
    return { runs, cursor, ...behind };
  }

  async dlqCounts(account: AccountId, filter: MessageFilter, seen: number): Promise<Counts> {
    return this.#counts({ kind: 'dlq-counts', account, filter, seen });
  }

  async eventCounts(
    account: AccountId,
    filter: MessageFilter,
    states: readonly MessageState[],
    seen: number,
  ): Promise<Counts> {
    return this.#counts({ kind: 'event-counts', account, filter, states, seen });
  }

  async backlog(account: AccountId, query: BacklogQuery, seen: number): Promise<Backlog> {
    const found = decodePlain<Backlog>(await this.#ask({ kind: 'backlog', account, query, seen }));
    return reportIfBehind(found, this.onBehind);
  }

  async runCounts(account: AccountId, filter: RunLogFilter, seen: number): Promise<Counts> {
    return this.#counts({ kind: 'run-counts', account, filter, seen });
  }

  async runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage> {
    const page = decodePlain<Page<RunEvent>>(await this.#ask({ kind: 'run-events', account, query, seen }));
    const { items: events, next: cursor, ...behind } = this.#told(page);
    return { events, cursor, ...behind };
  }

  async runEntries(account: AccountId, query: RunEntriesQuery, seen: number): Promise<RunEntries> {
    const found = decodePlain<RunEntries>(await this.#ask({ kind: 'run-entries', account, query, seen }));
    return reportIfBehind(found, this.onBehind);
  }

  async #counts(question: Question): Promise<Counts> {
    return reportIfBehind(decodePlain<Counts>(await this.#ask(question)), this.onBehind);
  }

  #ask(question: Question): Promise<Uint8Array> {
    return this.ask(encodeQuestion(question));
  }

  #told<Item>(page: Page<Item>): Page<Item> {
    return reportIfBehind(page, this.onBehind);
  }
}

/** @throws INVALID; errors of `log` and `statistics` */
export async function answer(
  log: MessageLog & RunLog,
  bytes: Uint8Array,
  statistics?: Statistics,
): Promise<Uint8Array> {
  const question = decodeQuestion(bytes);
  switch (question.kind) {
    case 'events': {
      const { events: items, cursor: next, behind } = await log.events(question.account, question.query, question.seen);
      return encodeSharedPage({ items, next, behind });
    }
    case 'dlq': {
      const { account, selector, seen, trimBytes } = question;
      const { entries: items, after: next, behind } = await log.dlq(account, selector, seen, trimBytes);
      return encodeSharedPage({ items, next, behind });
    }
    case 'runs': {
      const { runs: items, cursor: next, behind } = await log.runs(question.account, question.query, question.seen);
      return encodePlain({ items, next, behind });
    }
    case 'dlq-counts':
      return encodePlain(await log.dlqCounts(question.account, question.filter, question.seen));
    case 'event-counts': {
      const { account, filter, states, seen } = question;
      return encodePlain(await log.eventCounts(account, filter, states, seen));
    }
    case 'backlog':
      return encodePlain(await log.backlog(question.account, question.query, question.seen));
    case 'run-counts':
      return encodePlain(await log.runCounts(question.account, question.filter, question.seen));
    case 'run-events': {
      const { account, query, seen } = question;
      const { events: items, cursor: next, behind } = await log.runEvents(account, query, seen);
      return encodePlain({ items, next, behind });
    }
    case 'run-entries':
      return encodePlain(await log.runEntries(question.account, question.query, question.seen));
    case 'statistics':
      return answerStatistics(statistics, question.question);
    default:
      return unreachable(question);
  }
}
