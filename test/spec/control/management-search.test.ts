/** Proves QU3. */
import { expect } from 'chai';
import {
  type ControlCommand,
  type ControlEvent,
  DEFAULT_SEARCH_LIMITS,
  decide,
  MAX_ACCOUNT_SEARCH_INDEXES,
  MAX_SEARCH_INDEXES,
  type SearchLimits,
  searchQueries,
  searchReranks,
  searchUpdates,
} from '../../../src/domain/control/index.js';
import type { DatabaseId } from '../../../src/kernel/index.js';
import { ACCOUNT, db, given, INSTALLED, lease, metered, NOW_MS, secret, session, stateAfter, TODAY } from './given.js';
import { ac, atMs, indexCreated, newIndex, OTHER, PEOPLE, TEAM } from './management-given.js';

const create = (name: string, over: Record<string, unknown> = {}): ControlCommand => ({
  type: 'CreateSearchIndex',
  index: newIndex(name, over),
});
type Change = Partial<Omit<Extract<ControlCommand, { type: 'ChangeSearchIndex' }>, 'type' | 'index'>>;
const change = (over: Change): ControlCommand => ({
  type: 'ChangeSearchIndex',
  account: ACCOUNT,
  index: db('books'),
  ...over,
});
const set = (over: Record<string, unknown>): ControlEvent => {
  const { name, account, limits, tokens } = newIndex('books');
  return { type: 'SearchIndexSet', index: db('books'), name, account, limits, tokens, ...over, atMs } as ControlEvent;
};
const remove = (account = ACCOUNT): ControlCommand => ({ type: 'DeleteSearchIndex', account, index: db('books') });
const deleted: ControlEvent = { type: 'SearchIndexDeleted', index: db('books'), atMs };
const newTokens = { token: secret('new'), readOnlyToken: secret('new-ro') };
const BOOKS = [...PEOPLE, indexCreated('books')];

describe('control: creating a search index', () => {
  it('stores it with its tokens, and gives the same answer when repeated', () => {
    const { reply, events } = given(...INSTALLED)
      .when(create('books'))
      .then(indexCreated('books'));
    given(...INSTALLED, ...events)
      .when(create('books'))
      .then()
      .answers(reply);
    const { search } = stateAfter(...INSTALLED, ...events);
    expect(search.tokens.get('hash-books-search')).to.deep.equal({ index: db('books'), role: 'standard' });
    expect(search.tokens.get('hash-books-search-ro')).to.deep.equal({ index: db('books'), role: 'read-only' });
  });

  it('refuses unknown accounts, and invalid names, regions, types and limits', () => {
    const refused: [Record<string, unknown>, Parameters<ReturnType<typeof given>['when']>[0]['type'] | string][] = [
      [{ account: ac('nobody') }, 'UNKNOWN_ACCOUNT'],
      [{ name: '' }, 'BAD_NAME'],
      [{ region: 'mars' }, 'BAD_VALUE'],
      [{ type: 'pro' }, 'BAD_VALUE'],
    ];
    for (const [over, reason] of refused) {
      given(...INSTALLED)
        .when(create('books', over))
        .refuses(reason as never);
    }
    const limits = (over: Partial<SearchLimits>) =>
      given(...INSTALLED)
        .when(create('books', { limits: { ...DEFAULT_SEARCH_LIMITS.payg, ...over } }))
        .refuses('BAD_LIMITS');
    limits({ maxVectorCount: 0 });
    limits({ maxVectorCount: -1 });
    limits({ maxDailyQueries: 0 });
    limits({ maxDailyUpdates: -2 });
    limits({ maxWritesPerRequest: 1001 });
    limits({ maxQueryPerSecond: 0.5 });
  });

  it('refuses ids of databases and indexes, also deleted ones, and tokens in use', () => {
    given(...INSTALLED)
      .when(create('first'))
      .refuses('ID_TAKEN');
    given(...BOOKS, deleted)
      .when(create('books'))
      .refuses('ID_TAKEN');
    given(...BOOKS)
      .when(create('more', { tokens: newIndex('books').tokens }))
      .refuses('SECRET_TAKEN');
    given(...INSTALLED)
      .when(create('books', { tokens: { token: secret('one'), readOnlyToken: secret('one') } }))
      .refuses('SECRET_TAKEN');
  });

  it('refuses one more than the maximum of an account', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => indexCreated(`i${i}`));
    expect(given(...INSTALLED, ...many(MAX_ACCOUNT_SEARCH_INDEXES - 1)).when(create('x')).events).to.have.length(1);
    given(...INSTALLED, ...many(MAX_ACCOUNT_SEARCH_INDEXES))
      .when(create('x'))
      .refuses('TOO_MANY');
  });
});

describe('control: search indexes of all accounts together', () => {
  it('are limited to the maximum of an installation', () => {
    const state = stateAfter(...INSTALLED);
    for (let i = 0; i < MAX_SEARCH_INDEXES; i += 1) {
      const index = newIndex(`i${i}`, { account: ac(`${i}`) });
      state.search.put({ ...index, createdAtMs: 0, deletedAtMs: undefined });
    }
    expect(decide(create('x'), state, { nowMs: NOW_MS }).reply).to.include({ type: 'Rejected', reason: 'TOO_MANY' });
  });
});

describe('control: a search index', () => {
  it('is shown to its account alone', () => {
    const get = (account = ACCOUNT): ControlCommand => ({ type: 'GetSearchIndex', account, index: db('books') });
    expect(given(...BOOKS).when(get()).reply.type).to.equal('OneSearchIndex');
    for (const [events, command] of [
      [BOOKS, get(OTHER)],
      [PEOPLE, get()],
      [[...BOOKS, deleted], get()],
      [BOOKS, remove(OTHER)],
      [PEOPLE, remove()],
      [BOOKS, change({ account: OTHER, name: 'x' })],
      [[...BOOKS, deleted], change({ name: 'x' })],
    ] as const) {
      given(...events)
        .when(command)
        .refuses('UNKNOWN_SEARCH_INDEX');
    }
    const list = given(...BOOKS, indexCreated('theirs', { account: OTHER })).when({
      type: 'ListSearchIndexes',
      account: ACCOUNT,
    });
    expect(list.reply.type === 'SearchIndexes' && list.reply.indexes.map(({ id }) => id)).to.deep.equal([db('books')]);
    given(...BOOKS)
      .when({ type: 'ListSearchIndexes', account: ac('nobody') })
      .refuses('UNKNOWN_ACCOUNT');
  });

  it('is renamed, and has its limits changed, independently', () => {
    given(...BOOKS)
      .when(change({ name: 'Bücher' }))
      .then(set({ name: 'Bücher' }));
    given(...BOOKS)
      .when(change({ limits: { maxDailyQueries: 5 } }))
      .then(set({ limits: { ...DEFAULT_SEARCH_LIMITS.payg, maxDailyQueries: 5 } }));
    given(...BOOKS)
      .when(change({ name: 'books', limits: {} }))
      .then();
    given(...BOOKS)
      .when(change({ name: '' }))
      .refuses('BAD_NAME');
    given(...BOOKS)
      .when(change({ limits: { maxVectorCount: 0 } }))
      .refuses('BAD_LIMITS');
  });

  it('gets two new tokens, and the old ones are invalid', () => {
    given(...BOOKS)
      .when(change({ tokens: newTokens }))
      .then(set({ tokens: newTokens }));
    expect([...stateAfter(...BOOKS, set({ tokens: newTokens })).search.tokens.keys()]).to.have.members([
      'hash-new',
      'hash-new-ro',
    ]);
    given(...BOOKS, set({ tokens: newTokens }))
      .when(change({ tokens: newTokens }))
      .then();
    given(...BOOKS, indexCreated('more'))
      .when(change({ tokens: newIndex('more').tokens }))
      .refuses('SECRET_TAKEN');
  });

  it('is moved to a team, never to a person', () => {
    const { events } = given(...BOOKS)
      .when(change({ to: TEAM }))
      .then(set({ account: TEAM }));
    const { search } = stateAfter(...BOOKS, ...events);
    expect([search.countOf(ACCOUNT), search.countOf(TEAM)]).to.deep.equal([0, 1]);
    given(...BOOKS)
      .when(change({ to: OTHER }))
      .refuses('UNKNOWN_TEAM');
    given(...BOOKS, ...events)
      .when(change({ account: TEAM, to: TEAM }))
      .refuses('CONFLICTS');
    const full = Array.from({ length: MAX_ACCOUNT_SEARCH_INDEXES }, (_, i) => indexCreated(`i${i}`, { account: TEAM }));
    given(...BOOKS, ...full)
      .when(change({ to: TEAM }))
      .refuses('TOO_MANY');
  });

  it('is deleted with its tokens and counts; a repeated command gives the same answer', () => {
    given(...BOOKS)
      .when(remove())
      .then(deleted);
    const { reply } = given(...BOOKS, deleted)
      .when(remove())
      .then();
    expect(reply.type === 'OneSearchIndex' && reply.index).to.include({ tokens: undefined, deletedAtMs: NOW_MS });
    const state = stateAfter(
      ...BOOKS,
      metered(1, used(db('books'), 3)),
      reserved(searchQueries(db('books')), 3),
      deleted,
    );
    expect([state.search.tokens.size, state.search.liveCount, state.usage.size]).to.deep.equal([0, 0, 0]);
    expect(state.quotas.size).to.equal(0);
  });
});

const used = (database: DatabaseId, commands: number, day = TODAY) => ({
  database,
  day,
  session: session('a'),
  commands,
  writes: 1,
  errors: 0,
  bytesIn: 10,
  bytesOut: 20,
});
const reserved = (database: DatabaseId, count: number): ControlEvent => ({
  type: 'QuotaReserved',
  database,
  day: TODAY,
  session: session('a'),
  reserved: count,
});
const leaseOf = (database: DatabaseId, wanted: number, known = 0, who = 'a'): ControlCommand =>
  ({ ...lease(who, wanted, known), database }) as ControlCommand;

describe('control: the daily limits of a search index', () => {
  const limited = [
    ...PEOPLE,
    indexCreated('books', { limits: { ...DEFAULT_SEARCH_LIMITS.payg, maxDailyQueries: 10, maxDailyUpdates: 5 } }),
  ];

  it('are leased separately for queries and updates', () => {
    given(...limited)
      .when(leaseOf(searchQueries(db('books')), 100))
      .then(reserved(searchQueries(db('books')), 10))
      .answers({ type: 'QuotaLeased', granted: 10 });
    given(...limited, reserved(searchQueries(db('books')), 10))
      .when(leaseOf(searchUpdates(db('books')), 100))
      .answers({ type: 'QuotaLeased', granted: 5 });
    given(...limited, reserved(searchQueries(db('books')), 10))
      .when(leaseOf(searchQueries(db('books')), 1, 0, 'b'))
      .then()
      .answers({ type: 'QuotaLeased', granted: 0 });
  });

  it('grant every lease where the index has no limit', () => {
    given(...BOOKS)
      .when(leaseOf(searchQueries(db('books')), 100))
      .then()
      .answers({ type: 'QuotaLeased', granted: 100 });
  });

  it('are not leased for an unknown index, nor for a subject that is only counted', () => {
    for (const subject of [searchQueries(db('first')), searchReranks(db('books')), db('books')]) {
      given(...limited)
        .when(leaseOf(subject, 1))
        .refuses('UNKNOWN_DATABASE');
    }
    given(...limited, deleted)
      .when(leaseOf(searchQueries(db('books')), 1))
      .refuses('UNKNOWN_DATABASE');
  });

  it('count the leased amount of a process that is gone as used, because the meter does not have it', () => {
    const after = [
      ...limited,
      reserved(searchQueries(db('books')), 10),
      metered(1, used(db('books'), 1)),
      { type: 'SessionEnded' as const, session: session('a'), atMs },
    ];
    given(...after)
      .when(leaseOf(searchQueries(db('books')), 1, 0, 'b'))
      .answers({ type: 'QuotaLeased', granted: 0 });
  });
});

describe('control: monthly usage', () => {
  const fold = (rows: readonly ReturnType<typeof used>[]): ControlCommand => ({
    type: 'FoldMeter',
    after: 0,
    position: 1,
    records: [{ position: 1, session: session('a'), number: 1, day: TODAY, rows }],
  });

  it('is counted for existing search indexes with their subjects, and not for unknown ones', () => {
    const rows = [
      used(db('books'), 4),
      used(searchReranks(db('books')), 2),
      used(db('gone'), 1),
      used(searchReranks(db('gone')), 1),
    ];
    const { events } = given(...BOOKS).when(fold(rows));
    const state = stateAfter(...BOOKS, ...events);
    expect(state.commandsThisMonth(db('books'), NOW_MS)).to.equal(4);
    expect(state.commandsThisMonth(searchReranks(db('books')), NOW_MS)).to.equal(2);
    expect(state.usage.size).to.equal(2);
  });

  it('is the sum of its days in UTC, in and out', () => {
    // 2026-01-01: the day before is another month.
    const state = stateAfter(
      ...BOOKS,
      metered(1, used(db('books'), 1, TODAY - 1)),
      metered(2, used(db('books'), 1)),
      metered(3, used(db('books'), 1, TODAY + 1)),
    );
    expect(state.bytesThisMonth(db('books'), NOW_MS)).to.equal(60);
    expect(state.bytesThisMonth(db('books'), NOW_MS - 1)).to.equal(90);
    expect(state.bytesThisMonth(db('nobody'), NOW_MS)).to.equal(0);
  });
});
