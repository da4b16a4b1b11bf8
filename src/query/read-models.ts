/**
 * The two ends of a question to the read models: `AskedReadModels` asks, over whatever carries bytes; `answer` answers
 * where the tables are. What lies between (a thread, a bus) sees bytes alone.
 */
import type { DlqSelector } from '../domain/queue/index.js';
import { type AccountId, isMillraceError, MillraceError, unreachable } from '../kernel/index.js';
import type {
  Behind,
  Bus,
  DlqPage,
  LogPage,
  LogQuery,
  MaybeBehind,
  MessageLog,
  RunEventPage,
  RunEventQuery,
  RunLog,
  RunPage,
  RunQuery,
  Statistics,
} from '../ports/index.js';
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

/** @throws MillraceError, as the logs do */
export type Ask = (question: Uint8Array) => Promise<Uint8Array>;

/** Is told of every answer that is behind what was asked for. */
export type OnBehind = (behind: Behind) => void;

export function toldIfBehind<Answer extends MaybeBehind>(answer: Answer, onBehind: OnBehind | undefined): Answer {
  if (answer.behind !== undefined) onBehind?.(answer.behind);
  return answer;
}

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

/**
 * Asks whichever process keeps the read models; questions change nothing, so one is asked again where it may help.
 * @param tryMs for one try: longer than a question may wait and search
 */
export function askOverBus(bus: Bus, tryMs: number): Ask {
  return async (question) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await bus.request({ kind: 'query' }, question, tryMs);
      } catch (error) {
        if (!isMillraceError(error) || !error.retryable) throw error;
        if (tries < TRIES && error.details.isUnserved !== true) continue;
        throw new MillraceError('SHARD_UNAVAILABLE', 'no process that keeps the read models answers', {}, error);
      }
    }
  };
}

const TRIES = 2;
