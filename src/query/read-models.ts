/**
 * The two ends of a question to the read models: `AskedReadModels` asks, over whatever carries bytes; `answer` answers
 * where the tables are. What lies between (a thread, a bus) sees bytes alone.
 */
import type { DlqSelector } from '../domain/queue/index.js';
import { type AccountId, unreachable } from '../kernel/index.js';
import type {
  DlqPage,
  LogPage,
  LogQuery,
  MessageLog,
  RunEventPage,
  RunEventQuery,
  RunLog,
  RunPage,
  RunQuery,
  Statistics,
} from '../ports/index.js';
import { type Ask, type OnBehind, toldIfBehind } from './ask.js';
import {
  decodeDlqPage,
  decodeLogPage,
  decodeQuestion,
  decodeRunEventPage,
  decodeRunPage,
  encodeDlqPage,
  encodeLogPage,
  encodeQuestion,
  encodeRunEventPage,
  encodeRunPage,
} from './question-codec.js';
import { answerStatistics } from './statistics.js';

export class AskedReadModels implements MessageLog, RunLog {
  constructor(
    private readonly ask: Ask,
    private readonly onBehind?: OnBehind,
  ) {}

  async events(account: AccountId, query: LogQuery, seen: number): Promise<LogPage> {
    return toldIfBehind(
      decodeLogPage(await this.ask(encodeQuestion({ kind: 'events', account, query, seen }))),
      this.onBehind,
    );
  }

  async dlq(account: AccountId, selector: DlqSelector, seen: number, trimBytes?: number): Promise<DlqPage> {
    return toldIfBehind(
      decodeDlqPage(await this.ask(encodeQuestion({ kind: 'dlq', account, selector, seen, trimBytes }))),
      this.onBehind,
    );
  }

  async runs(account: AccountId, query: RunQuery, seen: number): Promise<RunPage> {
    return toldIfBehind(
      decodeRunPage(await this.ask(encodeQuestion({ kind: 'runs', account, query, seen }))),
      this.onBehind,
    );
  }

  async runEvents(account: AccountId, query: RunEventQuery, seen: number): Promise<RunEventPage> {
    return toldIfBehind(
      decodeRunEventPage(await this.ask(encodeQuestion({ kind: 'run-events', account, query, seen }))),
      this.onBehind,
    );
  }
}

/** @throws INVALID, and what `log` and `statistics` throw */
export async function answer(
  log: MessageLog & RunLog,
  bytes: Uint8Array,
  statistics?: Statistics,
): Promise<Uint8Array> {
  const question = decodeQuestion(bytes);
  switch (question.kind) {
    case 'events':
      return encodeLogPage(await log.events(question.account, question.query, question.seen));
    case 'dlq':
      return encodeDlqPage(await log.dlq(question.account, question.selector, question.seen, question.trimBytes));
    case 'runs':
      return encodeRunPage(await log.runs(question.account, question.query, question.seen));
    case 'run-events':
      return encodeRunEventPage(await log.runEvents(question.account, question.query, question.seen));
    case 'statistics':
      return answerStatistics(statistics, question.question);
    default:
      return unreachable(question);
  }
}
