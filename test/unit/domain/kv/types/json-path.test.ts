/** Paths: their matches, the order, and the refused paths. Proves JM1–JM3. */
import { expect } from 'chai';
import {
  compilePath,
  inOneStep,
  MAX_CACHED_PATHS,
  MAX_FILTER_TERMS,
  MAX_MATCHED_BYTES,
  MAX_PATH_BYTES,
  MAX_PATH_SEGMENTS,
  matchesOf,
  outermost,
  parseJson,
  pathOf,
  pathTooDeep,
  pathTooLong,
  stringifyJson,
  tooManyTerms,
} from '../../../../../src/domain/kv/types/json/index.js';

const STORE = `{"store":{"book":[
  {"category":"reference","author":"Rees","title":"Sayings","price":8.95},
  {"category":"fiction","author":"Waugh","title":"Sword","price":12.99},
  {"category":"fiction","author":"Melville","title":"Moby Dick","isbn":"0-553","price":8.99},
  {"category":"fiction","author":"Tolkien","title":"Rings","isbn":"0-395","price":22}],
  "bicycle":{"color":"red","price":19.95}},"limit":10,"names":["a","b"]}`;

function found(json: string, path: string): string {
  const { value } = parseJson(json);
  const places = inOneStep(matchesOf(value, compilePath(path).segments));
  return stringifyJson(places.map((place) => place.value));
}

function paths(json: string, path: string): string[] {
  const { value } = parseJson(json);
  return inOneStep(matchesOf(value, compilePath(path).segments)).map(pathOf);
}

function refusalOf(run: () => unknown): unknown {
  try {
    run();
  } catch (refusal) {
    return refusal;
  }
  return undefined;
}

describe('JSON paths', () => {
  const cases: [string, string, string][] = [
    ['{"a":{"b":1}}', '$', '[{"a":{"b":1}}]'],
    ['{"a":{"b":1}}', '$.a.b', '[1]'],
    ['{"a":{"b":1}}', '$["a"][\'b\']', '[1]'],
    ['{"a":{"b":1}}', 'a.b', '[1]'],
    ['{"a":{"b":1}}', '.a["b"]', '[1]'],
    ['{"a":{"b":1}}', '["a"].b', '[1]'],
    ['{"a":1,"b":2,"c":3}', '$["c","a","c","x"]', '[3,1]'],
    ['{"a b":1,"\\"":2,"\\\\":3,"":4}', '$["a b","\\"","\\\\",""]', '[1,2,3,4]'],
    ['{"__proto__":1}', '$.__proto__', '[1]'],
    ['{"a":1}', '$.constructor', '[]'],
    ['[0,1,2,3,4]', '$[1]', '[1]'],
    ['[0,1,2,3,4]', '$[-1]', '[4]'],
    ['[0,1,2,3,4]', '$[5,-6]', '[]'],
    ['[0,1,2,3,4]', '$[3,0,-2,3]', '[3,0]'],
    ['[0,1,2,3,4]', '$[1:3]', '[1,2]'],
    ['[0,1,2,3,4]', '$[-2:]', '[3,4]'],
    ['[0,1,2,3,4]', '$[:-3]', '[0,1]'],
    ['[0,1,2,3,4]', '$[::2]', '[0,2,4]'],
    ['[0,1,2,3,4]', '$[1:9:3]', '[1,4]'],
    ['[0,1,2,3,4]', '$[ 0 , 1:3 ]', '[0,1,2]'],
    ['{"a":[1,{"b":2}],"c":3}', '$.*', '[[1,{"b":2}],3]'],
    ['{"a":[1,{"b":2}],"c":3}', '$[*]', '[[1,{"b":2}],3]'],
    ['{"a":[1,{"b":2}],"c":3}', '$..*', '[2,1,{"b":2},[1,{"b":2}],3]'],
    ['{"a":{"a":{"a":1}}}', '$..a', '[1,{"a":1},{"a":{"a":1}}]'],
    ['{"a":{"a":{"a":1}}}', '$..a..a', '[1,{"a":1}]'],
    ['[[1,2],[3]]', '$..[0]', '[1,3,[1,2]]'],
    [STORE, '$.store.book[?(@.price<10)].title', '["Sayings","Moby Dick"]'],
    [STORE, '$..book[?(@.isbn)].title', '["Moby Dick","Rings"]'],
    [STORE, '$..book[?(!@.isbn)].title', '["Sayings","Sword"]'],
    [STORE, '$..book[?(@.price>$.limit&&@.category=="fiction")].title', '["Sword","Rings"]'],
    [STORE, '$..book[?(@.author=="Rees"||@.price>20)].title', '["Sayings","Rings"]'],
    [STORE, "$..book[?( (@.author != 'Rees') && !(@.price >= 12.99) )].title", '["Moby Dick"]'],
    [STORE, '$..book[?(@.title =~ "(?i)^s[aw]")].title', '["Sayings","Sword"]'],
    [STORE, '$.names[?(@=="b")]', '["b"]'],
    [STORE, '$.store[?(@.color)].price', '[19.95]'],
    ['[1,1.0,"1",null,true,[1]]', '$[?(@==1)]', '[1,1.0]'],
    ['[1,null,true,false]', '$[?(@==null||@==true)]', '[null,true]'],
    ['[18446744073709551615,18446744073709551614]', '$[?(@>18446744073709551614)]', '[18446744073709551615]'],
    ['[{"a":1},{"b":1}]', '$[?(@.a!=2)]', '[{"a":1}]'],
    ['[{"a":[1,2]},{"a":[3]}]', '$[?(@.a[*]==3)].a', '[[3]]'],
    ['[{"a":[{"b":1}]},{"a":[]}]', '$[?(@.a[?(@.b==1)])]', '[{"a":[{"b":1}]}]'],
  ];
  for (const [json, path, expected] of cases) {
    it(`${path} in ${json.slice(0, 40).replaceAll('\n', ' ')} is ${expected.slice(0, 50)}`, () => {
      expect(found(json, path)).to.equal(expected);
    });
  }

  it('written out for a value lead to that value and to no other', () => {
    const json = '{"a b":[{"\\"q\\\\":[1]},2],"__proto__":{"":3}}';
    const all = paths(json, '$..*');
    expect(all).to.include('$["a b"][0]["\\"q\\\\"][0]');
    for (const path of all) expect(paths(json, path), path).to.deep.equal([path]);
  });

  it('select the matches without their descendants', () => {
    const { value } = parseJson('{"a":{"a":1,"b":[2]},"b":{"c":{"b":3}}}');
    const places = inOneStep(matchesOf(value, compilePath('$..["a","b"]').segments));
    expect(inOneStep(outermost(places)).map(pathOf).sort()).to.deep.equal(['$["a"]', '$["b"]']);
  });

  it('find each value once when a path overlaps, in bounded time', () => {
    const deep = `${'{"a":['.repeat(50)}1${']}'.repeat(50)}`;
    const path = `$${'..*'.repeat(20)}`;
    const places = paths(deep, path);
    expect(new Set(places).size).to.equal(places.length);
    expect(paths('[[1,2],[3,4]]', '$[0,0,-2,*][1,-1,1:,0]')).to.deep.equal([
      '$[0][1]',
      '$[0][0]',
      '$[1][1]',
      '$[1][0]',
    ]);
  });

  it('list descendants before their ancestors, so that changes in that order lose none (JM2)', () => {
    const json = '{"a":{"a":[{"a":1,"b":{"a":2}},{"a":[3]}],"b":{"a":{"b":4}}},"b":[[{"a":5}]]}';
    for (const path of ['$..a', '$..b', '$..*', '$..["a","b"]', '$..a..b', '$..[0]']) {
      const { value } = parseJson(json);
      const places = inOneStep(matchesOf(value, compilePath(path).segments));
      for (const [index, place] of places.entries()) {
        for (let above = place.parent; above !== undefined; above = above.parent) {
          expect(
            places.slice(0, index).some(({ value: before }) => before === above?.value),
            `${path}: ${pathOf(place)} comes after ${pathOf(above)}`,
          ).to.equal(false);
        }
        // A member that is replaced or deleted is still at its place: no value above it has changed.
        const { parent, token } = place;
        if (!(parent?.value instanceof Map) || typeof token !== 'string') continue;
        expect(parent.value.get(token), `${path}: ${pathOf(place)}`).to.equal(place.value);
        if (index % 2 === 0) parent.value.set(token, null);
        else parent.value.delete(token);
      }
    }
  });

  it('are refused when they are invalid', () => {
    for (const path of [
      '',
      '$.',
      '$..',
      '$[',
      '$[]',
      '$[1',
      '$["a]',
      '$[1:2:0]',
      '$[1:2:-1]',
      '$.a.',
      '$[?]',
      '$[?(@.a==)]',
      '$[?(@.a',
      '$[?(@.a]',
      '$[a]',
      '$ .a b',
      '$[1234567890123456]',
      '$[?(@=~1)]',
      '$[?(@ && )]',
      '$.a]',
      '$[,1]',
    ])
      expect((refusalOf(() => compilePath(path)) as { text?: string })?.text, path).to.match(/^ERR /);
  });

  it('are limited in length, depth and number of filters', () => {
    const named = (bytes: number): string => `$.${'a'.repeat(bytes - 2)}`;
    expect(compilePath(named(MAX_PATH_BYTES)).segments.length).to.equal(1);
    expect(refusalOf(() => compilePath(named(MAX_PATH_BYTES + 1)))).to.equal(pathTooLong);
    expect(compilePath(named(MAX_PATH_BYTES + 1), true).segments.length).to.equal(1);
    expect(compilePath(`$${'.a'.repeat(MAX_PATH_SEGMENTS)}`).segments.length).to.equal(MAX_PATH_SEGMENTS);
    expect(refusalOf(() => compilePath(`$${'.a'.repeat(MAX_PATH_SEGMENTS + 1)}`))).to.equal(pathTooDeep);
    const filtered = (terms: number): string =>
      `$[?(${Array(terms - 1)
        .fill('@.a')
        .join('||')})]`;
    expect(compilePath(filtered(MAX_FILTER_TERMS)).segments.length).to.equal(1);
    expect(refusalOf(() => compilePath(filtered(MAX_FILTER_TERMS + 1)))).to.equal(tooManyTerms);
    expect(refusalOf(() => compilePath(`$[?${'('.repeat(10_000)}`))).to.equal(tooManyTerms);
    expect(refusalOf(() => compilePath(`$[?${'!'.repeat(10_000)}`))).to.equal(tooManyTerms);
    expect(refusalOf(() => compilePath('$.\xff')))
      .to.have.property('text')
      .that.includes('UTF-8');
  });

  it('are limited in the values that filters read and in the length of strings', () => {
    const wide = `[${Array(4000).fill('[1,2,3]').join()}]`;
    expect(refusalOf(() => found(`[${wide}]`, '$..[?(@..[?($..[0][?(@==9)])])]'))).to.equal(undefined);
    const deep = `${'['.repeat(100)}${Array(2000).fill('[]').join()}${']'.repeat(100)}`;
    expect(refusalOf(() => found(deep, '$..[?(@..[?(@..a)])]')))
      .to.have.property('text')
      .that.includes('too many values');
    const text = (bytes: number): string => `["${'a'.repeat(bytes)}"]`;
    expect(found(text(MAX_MATCHED_BYTES), '$[?(@=~"b")]')).to.equal('[]');
    expect(refusalOf(() => found(text(MAX_MATCHED_BYTES + 1), '$[?(@=~"b")]'))).to.have.property('text');
  });

  it('leave the cache after many others', () => {
    const first = compilePath('$.first');
    expect(compilePath('$.first')).to.equal(first);
    for (let i = 0; i < MAX_CACHED_PATHS; i += 1) compilePath(`$.other${i}`);
    expect(compilePath('$.first')).not.to.equal(first);
  });
});
