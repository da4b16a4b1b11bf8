/** Attacks with queries of indexes and vectors at the permitted maximum of work, and with builds of indexes. */
import { expect } from 'chai';
import { A_WHILE, type Attack, flush } from './attack.js';
import type { Attacker, HttpAnswer } from './attacker.js';

const DOCUMENTS = 4000;
const WORDS_OF_A_DOCUMENT = 25;
const VOCABULARY = 30_000;
/** The number of answers that the second tenant gets during the queries, in about four seconds. */
const JUDGED = 2 * A_WHILE;
/** The number of concurrent requests. */
const AT_A_TIME = 6;
const DIMENSION = 256;
const VECTORS = 1000;
/** The number of short vectors; a query asks for all of them. */
const SHORT_VECTORS = 8000;
const BATCH = 500;

type Words = readonly (string | number)[];

/** Returns a different word for each number; many words share a prefix. */
const wordOf = (at: number) => `term${(at % VOCABULARY).toString(36).padStart(4, 'a')}`;
const textOf = (id: number) =>
  Array.from({ length: WORDS_OF_A_DOCUMENT }, (_, at) => wordOf(id * 31 + at * at * 7)).join(' ');
const vectorOf = (id: number, length = DIMENSION) =>
  Array.from({ length }, (_, at) => Math.fround(Math.sin(id * 12.9898 + at * 78.233)));

const indexOver = (name: string, kind = 'HASH') => [
  'SEARCH.CREATE',
  name,
  'ON',
  kind,
  ...['PREFIX', 1, 'd:', 'SCHEMA', 't', 'TEXT', 'n', 'I64', 'FAST', 'k', 'KEYWORD', 'f', 'FACET'],
];

/** Sends commands in pipelines. */
async function sent(attacker: Attacker, commands: readonly Words[]): Promise<void> {
  for (let from = 0; from < commands.length; from += BATCH) {
    const body = JSON.stringify(commands.slice(from, from + BATCH));
    const { status, text } = await attacker.http('kv', '/pipeline', `Bearer ${attacker.credentials.restToken}`, body);
    expect(status, text).to.equal(200);
  }
}

const documentOf = (id: number): Words => [
  'HSET',
  `d:${id}`,
  ...['t', textOf(id), 'n', id, 'k', `key${id % 5000}`, 'f', `/${id % 20}/${id % 300}/${id}`],
];

/** Each request is answered, or refused with a reason: its work, its waiting time or the tenant's share. */
function expectClear(answers: readonly HttpAnswer[]): void {
  for (const { status, text } of answers) {
    expect(status, text).to.be.oneOf([200, 400, 422, 429, 503]);
    if (status !== 200) expect(text).to.match(/"error":"/);
  }
}

/** Repeats the requests, a few at a time, until the second tenant has got its answers. */
async function together(attacker: Attacker, asks: readonly (() => Promise<HttpAnswer>)[]): Promise<HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  let isOver = false;
  let asked = 0;
  const lane = async () => {
    while (!isOver) {
      const ask = asks[asked % asks.length] as () => Promise<HttpAnswer>;
      asked += 1;
      answers.push(await ask());
    }
  };
  const lanes = Promise.all(Array.from({ length: AT_A_TIME }, lane));
  await attacker.waitForSteadyTenant(JUDGED);
  isOver = true;
  await lanes;
  expectClear(answers);
  return answers;
}

const FUZZY = { $fuzzy: { value: 'termabcd', distance: 2, transpositionCostOne: true, prefix: true } };
const REGEXES = Array.from({ length: 8 }, (_, at) => ({ t: { $regex: `(t|e|r|m|[a-z0-9])*${at}.*` } }));
const any = (count: number, condition: (at: number) => unknown) => ({
  $or: Array.from({ length: count }, (_, at) => condition(at)),
});
const nested = (depth: number): unknown =>
  depth === 0
    ? { t: FUZZY }
    : { $or: [{ $and: [nested(depth - 1), { n: { $gte: 0 } }] }, { $mustNot: [{ k: `key${depth}` }] }] };

const HOSTILE_FILTERS: readonly unknown[] = [
  any(16, (at) => ({ t: { $fuzzy: { value: wordOf(at * 37), distance: 2, prefix: true } } })),
  any(120, (at) => ({ t: { $phrase: { value: `${wordOf(at)} t`, prefix: true } } })),
  any(120, (at) => ({ t: { $smart: `${wordOf(at)} ter` } })),
  { $or: REGEXES },
  nested(14),
];

const HOSTILE_AGGREGATIONS = {
  each: {
    $terms: { field: 'n', size: 10_000 },
    $aggs: { keys: { $terms: { field: 'k', size: 10_000 }, $aggs: { all: { $percentiles: { field: 'n' } } } } },
  },
  spread: { $histogram: { field: 'n', interval: 1 } },
  tree: { $facet: { field: 'f', path: '/', depth: 8, size: 10_000 } },
  different: { $cardinality: { field: 'k' } },
};

export const HOSTILE_QUERIES: Attack = {
  title: 'queries of SEARCH with prefixes, misspellings, expressions, nests and groups over all documents',
  run: async (attacker) => {
    await sent(attacker, [indexOver('index'), ...Array.from({ length: DOCUMENTS }, (_, id) => documentOf(id))]);
    expect((await attacker.rest(['SEARCH.WAITINDEXING', 'index'])).text).to.equal('{"result":1}');
    const commands: Words[] = HOSTILE_FILTERS.flatMap((filter) => [
      ['SEARCH.QUERY', 'index', JSON.stringify(filter), 'LIMIT', 1000, 'HIGHLIGHT', 'FIELDS', 1, 't'],
      ['SEARCH.COUNT', 'index', JSON.stringify(filter)],
      ['SEARCH.AGGREGATE', 'index', JSON.stringify(filter), JSON.stringify(HOSTILE_AGGREGATIONS)],
    ]);
    commands.push(['SEARCH.QUERY', 'index', '{}', 'LIMIT', 1000, 'OFFSET', 10_000, 'ORDERBY', 'n', 'DESC']);
    commands.push(['SEARCH.AGGREGATE', 'index', '{}', JSON.stringify(HOSTILE_AGGREGATIONS)]);
    const answers = await together(
      attacker,
      commands.map((words) => () => attacker.rest(words)),
    );
    // Some queries are refused because of their work.
    expect(answers.filter(({ text }) => text.includes('ms of work'))).to.have.length.at.least(1);
  },
  undo: flush,
};

export const HOSTILE_BUILDS: Attack = {
  title: '32 indexes over the same keys, built again and again while the keys change',
  run: async (attacker) => {
    await sent(
      attacker,
      Array.from({ length: DOCUMENTS / 2 }, (_, id) => documentOf(id)),
    );
    const names = Array.from({ length: 32 }, (_, at) => `index${at}`);
    await sent(
      attacker,
      names.map((name, at) => [...indexOver(name), 'x', 'TEXT', 'FROM', `path${at}`]),
    );
    const rounds = Array.from({ length: 10 }, (_, round) => [
      () => attacker.rest(['SEARCH.REINDEX', names[round] as string]),
      () => attacker.rest(['HSET', `d:${round}`, 't', `${textOf(round)} `.repeat(400)]),
      () => attacker.rest(['SEARCH.COUNT', names[31 - round] as string, '{}']),
    ]).flat();
    await together(attacker, rounds);
  },
  undo: flush,
};

export const HOSTILE_VECTORS: Attack = {
  title:
    'queries about vectors for as many results as there are, with long filters: VECTOR.QUERY, VSIM, and an index of vectors',
  run: async (attacker) => {
    const ids = Array.from({ length: VECTORS }, (_, id) => id);
    const values = (id: number) => ['VALUES', DIMENSION, ...vectorOf(id)];
    await sent(attacker, [['VECTOR.CREATE', 'v', 'DIM', DIMENSION, 'METRIC', 'COSINE']]);
    for (let from = 0; from < VECTORS; from += BATCH / 5) {
      const some = ids.slice(from, from + BATCH / 5);
      await sent(
        attacker,
        some.map((id) => ['VECTOR.ADD', 'v', id, ...values(id)]),
      );
    }
    const short = Array.from({ length: SHORT_VECTORS }, (_, id): Words => {
      const attributes = JSON.stringify({ n: id, k: `key${id % 100}` });
      return ['VADD', 's', 'VALUES', 4, ...vectorOf(id, 4), id, 'SETATTR', attributes];
    });
    await sent(attacker, short);
    const index = await vectorIndexOf(attacker);
    const upsert = (from: number) =>
      index.ask(
        'upsert',
        ids.slice(from, from + 100).map((id) => ({ id, vector: vectorOf(id), metadata: { n: id, k: textOf(id) } })),
      );
    for (let from = 0; from < VECTORS; from += BATCH / 5) expectClear([await upsert(from)]);
    const filter = Array.from({ length: 25 }, (_, at) => `.k in ["a", "b"] or .n * ${at + 1} ** 1.5 < 0`).join(' or ');
    const near = (at: number) => ['VSIM', 's', 'VALUES', 4, ...vectorOf(at + 0.5, 4), 'WITHSCORES', 'COUNT', 1_000_000];
    const globs = Array.from({ length: 50 }, (_, part) => `k GLOB '*${part}*a*'`).join(' OR ');
    const questions = (at: number) =>
      Array.from({ length: 4 }, (_, one) => ({
        vector: vectorOf(at + one + 0.5),
        topK: 1000,
        includeMetadata: true,
        filter: globs,
      }));
    const rounds = Array.from({ length: 5 }, (_, at) => [
      () => attacker.rest(['VECTOR.QUERY', 'v', 'TOPK', 1000, 'PROFILE', 'PRECISE', ...values(at + 0.5)]),
      () => attacker.rest([...near(at), 'FILTER', filter, 'TRUTH']),
      () => attacker.rest(near(at)),
      () => index.ask('query', questions(at)),
    ]).flat();
    await together(attacker, rounds);
  },
  undo: async (attacker) => {
    await flush(attacker);
    await (await vectorIndexOf(attacker)).remove();
  },
};

/** The attacker's vector index, created at the first call. */
async function vectorIndexOf(attacker: Attacker) {
  const manage = (method: string, path: string, body?: unknown) =>
    attacker.manage(method, path, body === undefined ? undefined : JSON.stringify(body));
  const known = JSON.parse((await manage('GET', '/v2/vector/index')).text) as { id: string; token: string }[];
  const wanted = { name: 'hostile', region: 'eu-west-1', dimension_count: DIMENSION, similarity_function: 'COSINE' };
  const { id, token } =
    known[0] ?? (JSON.parse((await manage('POST', '/v2/vector/index', wanted)).text) as { id: string; token: string });
  return {
    ask: (command: string, body: unknown) =>
      attacker.http('mgmt', `/vector/${id}/${command}`, `Bearer ${token}`, JSON.stringify(body)),
    remove: () => manage('DELETE', `/v2/vector/index/${id}`),
  };
}

export const ON_SEARCH: readonly Attack[] = [HOSTILE_QUERIES, HOSTILE_BUILDS, HOSTILE_VECTORS];
