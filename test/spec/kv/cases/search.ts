import { type KvCase, kvCase } from '../../../support/kv-case.js';
import { SYNTAX, WRONG_TYPE, wrongArity } from './texts.js';

const INDEX =
  'SEARCH.CREATE i ON JSON PREFIX 1 p: SCHEMA name TEXT tag TEXT NOTOKENIZE price F64 FAST stock U64 FAST made DATE FAST kind KEYWORD FAST tree FACET by TEXT FROM maker.name';
const DOCUMENTS = [
  INDEX,
  'JSON.SET p:1 $ {"name":"Red\\u0020Laptop","tag":"new","price":1299.5,"stock":5,"made":"2026-01-02T00:00:00Z","kind":"pc","tree":"/pc/laptop","maker":{"name":"Acme"}}',
  'JSON.SET p:2 $ {"name":"Blue\\u0020Laptop","tag":"old","price":599,"stock":9,"made":"2026-01-03T12:00:00Z","kind":"pc","tree":"/pc/laptop"}',
  'JSON.SET p:3 $ {"name":"Running\\u0020Shoe","tag":"new","price":80,"kind":"shoe","tree":"/shoe"}',
];

function queried(title: string, words: readonly string[], then: KvCase['then']): KvCase {
  return kvCase(`SEARCH.QUERY ${title}`, DOCUMENTS, ['SEARCH.QUERY', 'i', ...words], then, []);
}

function found(title: string, filter: unknown, ids: readonly number[]): KvCase {
  const isFound = (reply: unknown): boolean =>
    Array.isArray(reply) && reply.map(([key]) => key).join() === ids.map((id) => `p:${id}`).join();
  return queried(title, [JSON.stringify(filter), 'NOCONTENT'], isFound);
}

function aggregated(title: string, aggregation: unknown, then: KvCase['then']): KvCase {
  const words = ['SEARCH.AGGREGATE', 'i', '{}', JSON.stringify({ a: aggregation })];
  return kvCase(`SEARCH.AGGREGATE ${title}`, DOCUMENTS, words, then, []);
}

const DESCRIBED = [
  ['name', 'TEXT'],
  ['tag', 'TEXT', 'NOTOKENIZE'],
  ['price', 'F64', 'FAST'],
  ['stock', 'U64', 'FAST'],
  ['made', 'DATE', 'FAST'],
  ['kind', 'KEYWORD', 'FAST'],
  ['tree', 'FACET'],
  ['by', 'TEXT', 'FROM', 'maker.name'],
];

export const SEARCH_CASES: readonly KvCase[] = [
  kvCase('SEARCH.CREATE creates an index', [], 'SEARCH.CREATE i ON HASH PREFIX 2 a: b: SCHEMA t TEXT NOSTEM', 1, [
    'SEARCH.CREATE i ON HASH PREFIX 2 a: b: LANGUAGE english SCHEMA t TEXT NOSTEM',
  ]),
  kvCase(
    'SEARCH.CREATE creates an index over a stream',
    [],
    'SEARCH.CREATE i SKIPINITIALSCAN ON STREAM s LANGUAGE French SCHEMA t TEXT',
    1,
    ['SEARCH.CREATE i ON STREAM s LANGUAGE french SCHEMA t TEXT'],
  ),
  kvCase('SEARCH.CREATE needs a schema', [], 'SEARCH.CREATE i ON JSON', wrongArity('search.create')),
  kvCase('SEARCH.CREATE refuses a taken name', [INDEX], INDEX, '-ERR Index i already exists', []),
  kvCase('SEARCH.CREATE with EXISTSOK accepts the same index', [INDEX], INDEX.replace('ON', 'EXISTSOK ON'), 0, []),
  kvCase(
    'SEARCH.CREATE with EXISTSOK refuses another index',
    [INDEX],
    'SEARCH.CREATE i EXISTSOK ON JSON PREFIX 1 q: SCHEMA name TEXT',
    '-ERR Index i already exists',
  ),
  kvCase('SEARCH.CREATE refuses the name of another key', ['SET i x'], INDEX, WRONG_TYPE, []),
  kvCase(
    'SEARCH.CREATE refuses a type that it does not know',
    [],
    'SEARCH.CREATE i ON JSON PREFIX 1 p: SCHEMA a VECTOR',
    '-ERR Unknown field type: VECTOR',
  ),
  kvCase(
    'SEARCH.CREATE refuses a language that it does not know',
    [],
    'SEARCH.CREATE i ON JSON PREFIX 1 p: LANGUAGE klingon SCHEMA a TEXT',
    '-ERR Unknown language: klingon',
  ),
  kvCase(
    'SEARCH.CREATE refuses FAST for a text',
    [],
    'SEARCH.CREATE i ON JSON PREFIX 1 p: SCHEMA a TEXT FAST',
    '-ERR FAST is not for fields of type TEXT: a',
  ),
  kvCase('SEARCH.CREATE refuses an index without prefixes', [], 'SEARCH.CREATE i ON JSON SCHEMA a TEXT b TEXT', SYNTAX),

  found('finds a word', { name: { $eq: 'laptop' } }, [1, 2]),
  found('finds a phrase by $eq of several words', { name: { $eq: 'red laptop' } }, [1]),
  found('finds a stem', { name: { $eq: 'run' } }, [3]),
  found('finds a whole text that is not split', { tag: 'new' }, [1, 3]),
  found('finds a field of a nested object by FROM', { by: { $eq: 'acme' } }, [1]),
  found('finds numbers in a range', { price: { $gte: 80, $lt: 600 } }, [2, 3]),
  found('finds dates', { made: { $gt: '2026-01-02T12:00:00+01:00' } }, [2]),
  found('finds keywords in a range', { kind: { $gt: 'pc' } }, [3]),
  found('finds a facet by its parent', { tree: { $eq: '/pc' } }, [1, 2]),
  found('finds a misspelt word', { name: { $fuzzy: 'labtop' } }, [1, 2]),
  found('finds a beginning of a phrase', { name: { $phrase: { value: 'blue lap', prefix: true } } }, [2]),
  found('finds words by a regular expression', { name: { $regex: 'Lap.*' } }, [1, 2]),
  found('joins conditions', { $or: [{ kind: 'shoe' }, { stock: 9 }], $mustNot: { tag: 'old' } }, [3]),
  queried(
    'orders by a field, highest first',
    ['{}', 'ORDERBY', 'price', 'NOCONTENT'],
    [
      ['p:1', '1299.5'],
      ['p:2', 599],
      ['p:3', 80],
    ],
  ),
  queried(
    'limits its answer',
    ['{}', 'ORDERBY', 'price', 'ASC', 'LIMIT', '1', 'OFFSET', '1', 'NOCONTENT'],
    [['p:2', 599]],
  ),
  queried(
    'multiplies the score by a field',
    ['{}', 'SCOREFUNC', 'FIELDVALUE', 'stock', 'MISSING', '2', 'NOCONTENT'],
    [
      ['p:2', '9'],
      ['p:1', '5'],
      ['p:3', '2'],
    ],
  ),
  queried(
    'combines the values of fields for the score',
    [
      ...['{"kind":"pc"}', 'SCOREFUNC', 'COMBINEMODE', 'SUM', 'SCOREMODE', 'REPLACE'],
      ...['FIELDVALUE', 'stock', 'MODIFIER', 'SQUARE', 'FIELDVALUE', 'price', 'FACTOR', '2', 'NOCONTENT'],
    ],
    [
      ['p:1', '2624'],
      ['p:2', '1279'],
    ],
  ),
  queried(
    'selects fields',
    ['{"tag":"old"}', 'SELECT', '3', 'price', 'name', 'by'],
    (reply) => JSON.stringify((reply as unknown[][])[0]?.[2]) === '[["price","599"],["name","Blue Laptop"]]',
  ),
  queried(
    'marks the words that it found',
    ['{"name":{"$eq":"shoes"}}', 'HIGHLIGHT', 'FIELDS', '1', 'name', 'TAGS', '[', ']', 'SELECT', '1', 'name'],
    (reply) => JSON.stringify((reply as unknown[][])[0]?.[2]) === '[["name","Running [Shoe]"]]',
  ),
  queried(
    'shows the whole document',
    ['{"kind":"shoe"}'],
    [['p:3', '1', [['$', '{"name":"Running Shoe","tag":"new","price":80,"kind":"shoe","tree":"/shoe"}']]]],
  ),
  queried('refuses a limit of 0', ['{}', 'LIMIT', '0'], '-ERR limit should be a positive number less than 1000'),
  queried(
    'refuses a limit above 1000',
    ['{}', 'LIMIT', '1001'],
    '-ERR limit should be a positive number less than 1000',
  ),
  queried('refuses a large offset', ['{}', 'OFFSET', '10001'], '-ERR offset should be a number from 0 to 10000'),
  queried('refuses an order by a text', ['{}', 'ORDERBY', 'name'], '-ERR The field is not FAST: name'),
  queried(
    'refuses an order together with a function',
    ['{}', 'ORDERBY', 'price', 'SCOREFUNC', 'FIELDVALUE', 'stock'],
    '-ERR ORDERBY and SCOREFUNC cannot be used together',
  ),
  queried('refuses an operator that it does not know', ['{"name":{"$not":1}}'], '-ERR Unknown field operator: $not'),
  queried('refuses a filter that is not JSON', ['{name}'], '-ERR A filter is not valid JSON'),
  queried('refuses an option that it does not know', ['{}', 'SORT'], SYNTAX),
  kvCase('SEARCH.QUERY answers null without an index', [], 'SEARCH.QUERY i {}', null, []),
  kvCase('SEARCH.QUERY refuses another key', ['SET i x'], 'SEARCH.QUERY i {}', WRONG_TYPE, []),
  kvCase('SEARCH.QUERY needs a filter', [], 'SEARCH.QUERY i', wrongArity('search.query')),
  kvCase(
    'SEARCH.QUERY shows the fields of a hash',
    [
      'SEARCH.CREATE i ON HASH PREFIX 1 h: SCHEMA n I64 FAST',
      'HSET h:1 n -7 other x',
      'HSET h:2 n 8',
      'HINCRBY h:2 n -10',
    ],
    ['SEARCH.QUERY', 'i', '{"n":{"$lt":-1}}', 'ORDERBY', 'n', 'ASC'],
    [
      [
        'h:1',
        -7,
        [
          ['n', '-7'],
          ['other', 'x'],
        ],
      ],
      ['h:2', -2, [['n', '-2']]],
    ],
  ),
  kvCase(
    'SEARCH.QUERY shows the text of a string',
    [
      'SEARCH.CREATE i ON STRING PREFIX 1 s: SCHEMA a.b TEXT',
      'SET s:1 {"a":[{"b":"x"}]}',
      'SET s:2 x',
      'SET s:3 {"a":{"b":"y"}}',
    ],
    'SEARCH.QUERY i {"a.b":{"$eq":"x"}} SELECT 1 a.b',
    (reply) => JSON.stringify((reply as unknown[][])[0]?.[2]) === '[["a.b","[\\"x\\"]"]]',
  ),
  kvCase(
    'SEARCH.QUERY shows entries of a stream',
    [
      'SEARCH.CREATE i ON STREAM s SCHEMA t TEXT',
      'XADD s 1-1 t red',
      'XADD s 2-1 t red',
      'XADD s 3-1 t blue',
      'XDEL s 2-1',
    ],
    ['SEARCH.QUERY', 'i', '{"t":{"$regex":"red"}}'],
    [['1-1', '1', [['t', 'red']]]],
  ),

  kvCase('SEARCH.COUNT counts documents', DOCUMENTS, 'SEARCH.COUNT i {"kind":"pc"}', 2, []),
  kvCase('SEARCH.COUNT answers -1 without an index', [], 'SEARCH.COUNT i {}', -1, []),
  kvCase('SEARCH.COUNT needs a filter', [], 'SEARCH.COUNT i', wrongArity('search.count')),

  aggregated('computes an average', { $avg: { field: 'stock' } }, ['a', ['value', 7]]),
  aggregated('counts different values', { $cardinality: { field: 'kind' } }, ['a', ['value', 2]]),
  aggregated('uses a value for documents without the field', { $sum: { field: 'stock', missing: 1 } }, [
    'a',
    ['value', 15],
  ]),
  aggregated('answers null for the least of no values', { $min: { field: 'stock' } }, ['a', ['value', 5]]),
  aggregated('computes statistics', { $stats: { field: 'price' } }, [
    'a',
    ['count', 3, 'min', 80, 'max', '1299.5', 'sum', '1978.5', 'avg', '659.5'],
  ]),
  aggregated(
    'groups by values, with statistics of each group',
    {
      $terms: { field: 'kind', size: 1 },
      $aggs: { most: { $max: { field: 'price' } } },
    },
    [
      'a',
      [
        'buckets',
        [['key', 'pc', 'docCount', 2, 'most', ['value', '1299.5']]],
        'sumOtherDocCount',
        1,
        'docCountErrorUpperBound',
        0,
      ],
    ],
  ),
  aggregated(
    'groups by ranges',
    { $range: { field: 'price', ranges: [{ to: 100 }, { from: 100, to: 600 }, { from: 600 }] } },
    [
      'a',
      [
        'buckets',
        [
          ['key', '*-100', 'to', 100, 'docCount', 1],
          ['key', '100-600', 'from', 100, 'to', 600, 'docCount', 1],
          ['key', '600-*', 'from', 600, 'docCount', 1],
        ],
      ],
    ],
  ),
  aggregated('groups by days', { $dateHistogram: { field: 'made', fixedInterval: '1d' } }, [
    'a',
    [
      'buckets',
      [
        ['key', 1767312000000, 'keyAsString', '2026-01-02T00:00:00.000Z', 'docCount', 1],
        ['key', 1767398400000, 'keyAsString', '2026-01-03T00:00:00.000Z', 'docCount', 1],
      ],
    ],
  ]),
  aggregated('shows the tree of a facet', { $facet: { field: 'tree', path: '/', depth: 2 } }, [
    'a',
    [
      ...['path', '/', 'sumOtherDocCount', 0, 'children'],
      [
        [
          ...['path', '/pc', 'docCount', 2, 'sumOtherDocCount', 0, 'children'],
          [['path', '/pc/laptop', 'docCount', 2, 'sumOtherDocCount', 0]],
        ],
        ['path', '/shoe', 'docCount', 1, 'sumOtherDocCount', 0],
      ],
    ],
  ]),
  aggregated(
    'refuses an aggregation that it does not know',
    { $mode: { field: 'price' } },
    '-ERR Unknown aggregation: $mode',
  ),
  aggregated('refuses a text', { $terms: { field: 'name' } }, '-ERR $terms is not for fields of type TEXT: name'),
  aggregated(
    'refuses too many buckets',
    { $histogram: { field: 'price', interval: 0.01 } },
    '-ERR An answer has at most 10000 buckets: use a larger interval or a smaller size',
  ),
  kvCase('SEARCH.AGGREGATE answers null without an index', [], 'SEARCH.AGGREGATE i {} {}', null, []),
  kvCase('SEARCH.AGGREGATE needs aggregations', [], 'SEARCH.AGGREGATE i {}', wrongArity('search.aggregate')),

  kvCase('SEARCH.DESCRIBE describes an index', DOCUMENTS, 'SEARCH.DESCRIBE i', [
    ...['name', 'i', 'type', 'JSON', 'prefixes', ['p:'], 'language', 'english'],
    ...['indexSize', 0, 'pendingUpdates', 3, 'schema', DESCRIBED],
  ]),
  kvCase('SEARCH.DESCRIBE answers null without an index', [], 'SEARCH.DESCRIBE i', null),
  kvCase('SEARCH.DESCRIBE needs a name', [], 'SEARCH.DESCRIBE', wrongArity('search.describe')),

  kvCase('SEARCH.DROP deletes an index', [INDEX], 'SEARCH.DROP i', 1, ['DEL i']),
  kvCase('SEARCH.DROP follows no alias', [INDEX, 'SEARCH.ALIASADD a i'], 'SEARCH.DROP a', 0, []),
  kvCase('SEARCH.DROP refuses another key', ['SET i x'], 'SEARCH.DROP i', WRONG_TYPE, []),
  kvCase('SEARCH.DROP needs a name', [], 'SEARCH.DROP', wrongArity('search.drop')),

  kvCase('SEARCH.WAITINDEXING answers 1', DOCUMENTS, 'SEARCH.WAITINDEXING i', 1, []),
  kvCase('SEARCH.WAITINDEXING answers 0 without an index', [], 'SEARCH.WAITINDEXING i', 0, []),
  kvCase('SEARCH.WAITINDEXING needs a name', [], 'SEARCH.WAITINDEXING', wrongArity('search.waitindexing')),

  kvCase('SEARCH.REINDEX answers 1', [INDEX], 'SEARCH.REINDEX i', 1, []),
  kvCase('SEARCH.REINDEX answers 0 without an index', [], 'SEARCH.REINDEX i', 0, []),
  kvCase('SEARCH.REINDEX needs a name', [], 'SEARCH.REINDEX', wrongArity('search.reindex')),

  kvCase(
    'SEARCH.LISTINDEXES lists indexes by name',
    [INDEX, INDEX.replace(' i ', ' h '), INDEX.replace(' i ', ' x ')],
    'SEARCH.LISTINDEXES MATCH [hi] LIMIT 1 OFFSET 1',
    [['name', 'i', 'type', 'JSON']],
  ),
  kvCase('SEARCH.LISTINDEXES refuses an option that it does not know', [], 'SEARCH.LISTINDEXES ALL 1', SYNTAX),

  kvCase('SEARCH.ALIASADD adds an alias of an index to come', [], 'SEARCH.ALIASADD a i', 1, ['SEARCH.ALIASADD a i']),
  kvCase('SEARCH.ALIASADD changes an alias', ['SEARCH.ALIASADD a x'], 'SEARCH.ALIASADD a i', 2, [
    'SEARCH.ALIASADD a i',
  ]),
  kvCase('SEARCH.ALIASADD needs an index', [], 'SEARCH.ALIASADD a', wrongArity('search.aliasadd')),
  kvCase(
    'SEARCH.ALIASADD makes an index answer to the alias',
    [...DOCUMENTS, 'SEARCH.ALIASADD a i'],
    'SEARCH.COUNT a {}',
    3,
  ),
  kvCase('SEARCH.ALIASDEL deletes an alias', ['SEARCH.ALIASADD a i'], 'SEARCH.ALIASDEL a', 1, ['SEARCH.ALIASDEL a']),
  kvCase('SEARCH.ALIASDEL answers 0 without the alias', [], 'SEARCH.ALIASDEL a', 0, []),
  kvCase('SEARCH.ALIASDEL needs an alias', [], 'SEARCH.ALIASDEL', wrongArity('search.aliasdel')),
  kvCase(
    'SEARCH.LISTALIASES lists aliases by name',
    ['SEARCH.ALIASADD b i', 'SEARCH.ALIASADD a x'],
    'SEARCH.LISTALIASES',
    [
      ['a', 'x'],
      ['b', 'i'],
    ],
  ),
  kvCase('SEARCH.LISTALIASES takes no words', [], 'SEARCH.LISTALIASES a', wrongArity('search.listaliases')),
  kvCase('FLUSHALL deletes aliases', ['SEARCH.ALIASADD b i', 'FLUSHALL'], 'SEARCH.LISTALIASES', []),

  kvCase('TYPE names an index', [INDEX], 'TYPE i', '+search'),
  kvCase('SCAN lists indexes by type', [INDEX, 'SET p x'], 'SCAN 0 TYPE search', ['0', ['i']]),
  kvCase('RENAME gives an index another name', [...DOCUMENTS, 'RENAME i j'], 'SEARCH.COUNT j {}', 3),
  kvCase('COPY makes a second index', [...DOCUMENTS, 'COPY i j'], 'SEARCH.COUNT j {}', 3),
  kvCase('DEL removes documents', [...DOCUMENTS, 'DEL p:1 p:3'], 'SEARCH.COUNT i {}', 1),
  kvCase('RENAME moves a document', [...DOCUMENTS, 'RENAME p:1 q'], 'SEARCH.COUNT i {}', 2),
  kvCase('FLUSHALL deletes indexes', [...DOCUMENTS, 'FLUSHALL'], 'SEARCH.COUNT i {}', -1),
];
