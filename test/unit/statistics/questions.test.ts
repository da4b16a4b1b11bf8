import { expect } from 'chai';
import { type AccountId, type DatabaseId, MillraceError } from '../../../src/kernel/index.js';
import type { MessageLog, RunLog, Statistics } from '../../../src/ports/index.js';
import { answer, StatisticsClient } from '../../../src/query/index.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa' as AccountId;
const NO_LOG = {} as MessageLog & RunLog;

/** Answers with its question. */
const echo = {
  database: async (...given: unknown[]) => ({ of: 'database', given }),
  databases: async (...given: unknown[]) => ({ of: 'databases', given }),
  account: async (...given: unknown[]) => ({ of: 'account', given }),
  search: async (...given: unknown[]) => ({ of: 'search', given }),
  searchTotals: async (...given: unknown[]) => ({ of: 'totals', given }),
} as unknown as Statistics;

async function refusalOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'answered',
    (error: unknown) => (error instanceof MillraceError ? error.code : String(error)),
  );
}

describe('questions to the statistics', () => {
  it('arrive unchanged, and so do the answers', async () => {
    const asked = new StatisticsClient((question) => answer(NO_LOG, question, echo));
    const answers = [
      await asked.database(DATABASE, '7d', 1_790_000_000_123),
      await asked.databases([DATABASE], '3d', 5),
      await asked.account(ACCOUNT, '1h', 0),
      await asked.search(DATABASE, '30d', 1),
      await asked.searchTotals([DATABASE, DATABASE], 2),
    ] as unknown[];
    expect(answers).to.deep.equal([
      { of: 'database', given: [DATABASE, '7d', 1_790_000_000_123] },
      { of: 'databases', given: [[DATABASE], '3d', 5] },
      { of: 'account', given: [ACCOUNT, '1h', 0] },
      { of: 'search', given: [DATABASE, '30d', 1] },
      { of: 'totals', given: [[DATABASE, DATABASE], 2] },
    ]);
  });

  it('carry fractions and large numbers exactly', async () => {
    const numbers = [0.1 + 0.2, 2 ** 53 - 1, 4_294_967_296, 1e-9];
    const exact = { ...echo, database: async () => numbers as never };
    const asked = new StatisticsClient((question) => answer(NO_LOG, question, exact));
    expect(await asked.database(DATABASE, '1h', 0)).to.deep.equal(numbers);
  });

  it('are refused where no statistics are kept', async () => {
    const asked = new StatisticsClient((question) => answer(NO_LOG, question));
    expect(await refusalOf(asked.database(DATABASE, '1h', 0))).to.equal('SHARD_UNAVAILABLE');
  });

  it('fail with the error of the statistics', async () => {
    const failing = { ...echo, account: () => Promise.reject(new MillraceError('SHUTTING_DOWN', 'stopping')) };
    const asked = new StatisticsClient((question) => answer(NO_LOG, question, failing));
    expect(await refusalOf(asked.account(ACCOUNT, '1h', 0))).to.equal('SHUTTING_DOWN');
  });
});
