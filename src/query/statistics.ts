/** Both ends of questions to the statistics: sending them, and answering them where the tables are. */
import { type AccountId, type DatabaseId, MillraceError, unreachable } from '../kernel/index.js';
import type {
  AccountSeries,
  DatabaseSeries,
  DatabasesSeries,
  MaybeBehind,
  Period,
  SearchSeries,
  SearchTotals,
  Statistics,
} from '../ports/index.js';
import { type Ask, type OnBehind, reportIfBehind } from './ask.js';
import { decodePlain, encodePlain, encodeQuestion, type StatisticsQuestion } from './question-codec.js';

export class StatisticsClient implements Statistics {
  constructor(
    private readonly ask: Ask,
    private readonly onBehind?: OnBehind,
  ) {}

  async database(id: DatabaseId, period: Period, nowMs: number): Promise<DatabaseSeries> {
    return this.#ask({ of: 'database', id, period, nowMs });
  }

  async databases(ids: readonly DatabaseId[], period: Period, nowMs: number): Promise<DatabasesSeries> {
    return this.#ask({ of: 'databases', ids, period, nowMs });
  }

  async account(id: AccountId, period: Period, nowMs: number): Promise<AccountSeries> {
    return this.#ask({ of: 'account', id, period, nowMs });
  }

  async search(id: DatabaseId, period: Period, nowMs: number): Promise<SearchSeries> {
    return this.#ask({ of: 'search', id, period, nowMs });
  }

  async searchTotals(ids: readonly DatabaseId[], nowMs: number): Promise<SearchTotals> {
    return this.#ask({ of: 'search-totals', ids, nowMs });
  }

  async #ask<Answer extends MaybeBehind>(question: StatisticsQuestion): Promise<Answer> {
    const answer = decodePlain<Answer>(await this.ask(encodeQuestion({ kind: 'statistics', question })));
    return reportIfBehind(answer, this.onBehind);
  }
}

/** @throws errors of `statistics` */
export async function answerStatistics(
  statistics: Statistics | undefined,
  question: StatisticsQuestion,
): Promise<Uint8Array> {
  if (statistics === undefined) throw new MillraceError('SHARD_UNAVAILABLE', 'no statistics are kept here');
  switch (question.of) {
    case 'database':
      return encodePlain(await statistics.database(question.id, question.period, question.nowMs));
    case 'databases':
      return encodePlain(await statistics.databases(question.ids, question.period, question.nowMs));
    case 'account':
      return encodePlain(await statistics.account(question.id, question.period, question.nowMs));
    case 'search':
      return encodePlain(await statistics.search(question.id, question.period, question.nowMs));
    case 'search-totals':
      return encodePlain(await statistics.searchTotals(question.ids, question.nowMs));
    default:
      return unreachable(question);
  }
}
