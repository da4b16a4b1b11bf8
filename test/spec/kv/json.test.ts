/** Proves JD2, JD3. */
import { expect } from 'chai';
import { encodeCommand, encodeReply3 } from '../../../src/codec/resp/index.js';
import { findCommand, KvEngine, MAX_RECORD_BYTES, type Reply } from '../../../src/domain/kv/index.js';
import { type JsonDocument, LONG_JSON_BYTES, MAX_JSON_DEPTH } from '../../../src/domain/kv/types/json/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { JSON_CASES } from './cases/json.js';
import { describeCases } from './describe-cases.js';

const TOO_DEEP = '-ERR recursion limit exceeded';
const TOO_LARGE = '-ERR max single record size exceeded';
/** The largest effect of a document without long strings. */
const MAX_EFFECT_BYTES = 64 * 1024;

describeCases('key-value: JSON', JSON_CASES);

describe('key-value: JSON documents', () => {
  let bench: KvBench;
  const set = (json: string): unknown => readable(bench.run(['JSON.SET', 'k', '$', json]).reply);
  const ask = (...words: string[]): unknown => readable(bench.run(words).reply);
  const largeJson = (items: number): string =>
    `{"items":[${Array.from({ length: items }, (_, id) => `{"id":${id},"none":null,"tags":["a",{"b":0.5}]}`)}],"n":1}`;

  beforeEach(() => {
    bench = new KvBench();
  });
  afterEach(() => {
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('may be nested up to the limit by every write, and no deeper', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(set('{"a":{"b":[[]]}}')).to.equal('+OK');
    expect(ask('JSON.SET', 'k', '$.a.b', nested(MAX_JSON_DEPTH - 1))).to.equal(TOO_DEEP);
    expect(ask('JSON.SET', 'k', '$.a.c', nested(MAX_JSON_DEPTH - 1))).to.equal(TOO_DEEP);
    expect(ask('JSON.MERGE', 'k', '$.a', `{"b":${nested(MAX_JSON_DEPTH - 1)}}`)).to.equal(TOO_DEEP);
    expect(ask('JSON.ARRAPPEND', 'k', '$.a.b', nested(MAX_JSON_DEPTH - 2))).to.equal(TOO_DEEP);
    expect(ask('JSON.ARRINSERT', 'k', '$.a.b', '0', nested(MAX_JSON_DEPTH - 2))).to.equal(TOO_DEEP);
    expect(ask('JSON.GET', 'k')).to.equal('{"a":{"b":[[]]}}');
    expect(ask('JSON.ARRAPPEND', 'k', '$.a.b', nested(MAX_JSON_DEPTH - 3))).to.deep.equal([2]);
    expect(ask('JSON.SET', 'k', '$.a.c', nested(MAX_JSON_DEPTH - 2))).to.equal('+OK');
    expect(ask('JSON.GET', 'k', '$.a.c')).to.equal(`[${nested(MAX_JSON_DEPTH - 2)}]`);
  });

  it('may be as large as the limit, and not a byte larger', () => {
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    const run = (...words: string[]): unknown => readable(engine.execute(findCommand(words)!, words, 0) as Reply);
    const document = (bytes: number): string => `{"a":[],"b":"","c":"${'x'.repeat(bytes)}"}`;
    run('JSON.SET', 'k', '$', document(0));
    const room = MAX_RECORD_BYTES - (engine.keyspace.peek('k') as JsonDocument).bytes;
    const tooLarge = document(room + 1);
    expect(run('JSON.SET', 'k', '$', tooLarge)).to.equal(TOO_LARGE);
    expect(run('JSON.SET', 'l', '$', tooLarge)).to.equal(TOO_LARGE);
    const largest = document(room);
    expect(run('JSON.SET', 'k', '$', largest)).to.equal('+OK');
    expect((engine.keyspace.peek('k') as JsonDocument).bytes).to.equal(MAX_RECORD_BYTES);
    engine.effects.take();
    expect(run('JSON.SET', 'k', '$', largest), 'in place of another as large').to.equal('+OK');
    engine.effects.take();
    for (const command of [
      ['STRAPPEND', '$.b'],
      ['SET', '$.b'],
      ['MERGE', '$.b'],
      ['ARRAPPEND', '$.a'],
    ])
      expect(run(`JSON.${command[0]}`, 'k', ...command.slice(1), '"x"'), command.join(' ')).to.equal(TOO_LARGE);
    expect(run('JSON.MSET', 'l', '$', '1', 'k', '$.b', '"x"')).to.equal(TOO_LARGE);
    expect([run('JSON.GET', 'k', '$.a', '$.b'), run('JSON.GET', 'l')]).to.deep.equal(['{"$.a":[[]],"$.b":[""]}', null]);
  });

  it('have effects and rebuilding commands of bounded length, for any size', () => {
    let longest = 0;
    bench.onEffect = (words) => {
      longest = Math.max(longest, encodeCommand(words).length);
    };
    const json = largeJson(4000);
    set(json);
    longest = 0;
    expect(ask('JSON.NUMINCRBY', 'k', '$.items[*].id', '1')).to.be.a('string');
    expect(ask('JSON.DEL', 'k', '$.items[?(@.id>2000)]')).to.equal(2000);
    expect(ask('JSON.DEL', 'k', '$..none')).to.equal(2000);
    expect(ask('JSON.ARRPOP', 'k', '$.items', '0')).to.deep.equal(['{"id":1,"tags":["a",{"b":0.5}]}']);
    expect(ask('JSON.ARRTRIM', 'k', '$..tags', '0', '0')).to.have.length(1999);
    expect(longest).to.be.within(1, MAX_EFFECT_BYTES);
    set(json);
    const document = bench.engine.keyspace.peek('k') as JsonDocument;
    const lengths = [...document.rebuild('k')].map((words) => encodeCommand(words).length);
    expect(Math.max(...lengths)).to.be.lessThan(MAX_EFFECT_BYTES);
    const wide = `{${Array.from({ length: 5_000 }, (_, i) => `"member ${i}":${i % 1000 === 0 ? null : i / 7}`)}}`;
    expect(set(wide)).to.equal('+OK');
    bench.expectRebuilt();
    const commands = [...(bench.engine.keyspace.peek('k') as JsonDocument).rebuild('k')];
    expect(Math.max(...commands.map((words) => encodeCommand(words).length))).to.be.lessThan(MAX_EFFECT_BYTES);
    expect(commands.length).to.be.lessThan(100);
  });

  it('are processed in slices when they are long, with the same answers', () => {
    const json = largeJson(6000);
    expect(json.length).to.be.greaterThan(LONG_JSON_BYTES);
    const sliced = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    const inSlices = (words: string[]): unknown => {
      const spec = findCommand(words)!;
      expect(sliced.isLong(spec, words, 0), words[0] as string).to.equal(true);
      const command = sliced.begin(spec, words);
      for (let slices = 1; ; slices += 1) {
        const reply = command.next(0);
        if (reply === undefined) continue;
        if (/GET|SET|MERGE|RESP|TYPE/.test(words[0] as string)) expect(slices, words[0] as string).to.be.greaterThan(3);
        return readable(reply);
      }
    };
    for (const words of [
      ['JSON.SET', 'k', '$', json],
      ['JSON.GET', 'k', '$..id'],
      ['JSON.MGET', 'k', '$'],
      ['JSON.RESP', 'k'],
      ['JSON.TYPE', 'k', '$..*'],
      ['JSON.MERGE', 'k', '$', json.replaceAll('"n":1', '"m":2')],
      ['JSON.MSET', 'k', '$.copy', json],
      ['JSON.NUMMULTBY', 'k', '$..b', '3'],
      ['JSON.STRAPPEND', 'k', '$..tags[0]', '"x"'],
      ['JSON.ARRINSERT', 'k', '$..tags', '1', '[]'],
      ['JSON.ARRINDEX', 'k', '$.items', '{"id":5}'],
      ['JSON.OBJKEYS', 'k', '$.copy'],
      ['JSON.DEBUG', 'MEMORY', 'k'],
      ['JSON.DEL', 'k', '$..id'],
      ['JSON.CLEAR', 'k', '$.items[*]'],
      ['JSON.GET', 'k'],
    ]) {
      expect(inSlices(words), words.slice(0, 3).join(' ').slice(0, 40)).to.deep.equal(ask(...words));
    }
    expect(sliced.keyspace.bytes).to.equal(bench.engine.keyspace.bytes);
  });

  it('report their type', () => {
    set('{}');
    expect(ask('TYPE', 'k')).to.equal('+ReJSON-RL');
    expect((bench.engine.keyspace.peek('k') as JsonDocument).encoding).to.equal('raw');
    expect(ask('GET', 'k')).to.match(/^-WRONGTYPE/);
    expect(ask('MEMORY', 'USAGE', 'k')).to.be.greaterThan(0);
  });

  it('keep their expiry while they are changed', () => {
    set('[1]');
    ask('PEXPIRE', 'k', '5000');
    ask('JSON.SET', 'k', '$', '[2]');
    ask('JSON.ARRPOP', 'k');
    expect([ask('JSON.GET', 'k'), ask('PTTL', 'k')]).to.deep.equal(['[]', 5000]);
    bench.nowMs += 6000;
    expect([ask('JSON.GET', 'k'), ask('JSON.SET', 'k', '$', '1', 'XX')]).to.deep.equal([null, null]);
    expect(set('3')).to.equal('+OK');
    expect(ask('PTTL', 'k')).to.equal(-1);
  });

  it('treat names like __proto__ as plain names', () => {
    set('{"__proto__":{"a":1}}');
    expect(ask('JSON.SET', 'k', '$.constructor', '{"prototype":1}')).to.equal('+OK');
    expect(ask('JSON.MERGE', 'k', '$', '{"__proto__":{"b":2},"toString":3}')).to.equal('+OK');
    expect(ask('JSON.GET', 'k')).to.equal('{"__proto__":{"a":1,"b":2},"constructor":{"prototype":1},"toString":3}');
    expect(ask('JSON.GET', 'k', '$.hasOwnProperty')).to.equal('[]');
    expect(({} as { b?: number }).b).to.equal(undefined);
  });

  it('share no part with a copy', () => {
    set('{"a":[1]}');
    const copy = (bench.engine.keyspace.peek('k') as JsonDocument).clone();
    ask('JSON.ARRAPPEND', 'k', '$.a', '2');
    expect([...copy.contents()]).to.deep.equal(['{1', 'a', '[1', '1']);
    ask('JSON.SET', 'k', '$', '[{},{}]');
    ask('JSON.SET', 'k', '$[*].a', '[]');
    ask('JSON.SET', 'k', '$[*]', '{"a":[]}');
    ask('JSON.ARRAPPEND', 'k', '$[0].a', '1');
    expect(ask('JSON.GET', 'k')).to.equal('[{"a":[1]},{"a":[]}]');
  });

  it('are merged according to RFC 7386', () => {
    const merged = (target: string, patch: string): unknown => {
      set(target);
      ask('JSON.MERGE', 'k', '$', patch);
      return ask('JSON.GET', 'k');
    };
    expect(merged('{"a":"b"}', '{"a":"c"}')).to.equal('{"a":"c"}');
    expect(merged('{"a":"b","b":"c"}', '{"a":null}')).to.equal('{"b":"c"}');
    expect(merged('{"a":["b"]}', '{"a":"c"}')).to.equal('{"a":"c"}');
    expect(merged('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}')).to.equal('{"a":{"b":"d"}}');
    expect(merged('{"a":"foo"}', '"bar"')).to.equal('"bar"');
    expect(merged('[1,2]', '{"a":"b","c":null}')).to.equal('{"a":"b"}');
    expect(merged('{}', '{"a":{"bb":{"ccc":null}}}')).to.equal('{"a":{"bb":{}}}');
    expect(merged('{"e":null}', '{"a":1}')).to.equal('{"e":null,"a":1}');
  });

  it('answer RESP3 in its own types', () => {
    set('{"a":1,"b":1.5,"c":[true,null,{"d":2.0}]}');
    bench.caller = { endpoint: 'resp', protocol: 3 };
    const ask3 = (...words: string[]): string => encodeReply3(bench.run(words).reply);
    expect(ask3('JSON.NUMINCRBY', 'k', '$.*', '1')).to.equal('*3\r\n:2\r\n,2.5\r\n_\r\n');
    expect(ask3('JSON.TYPE', 'k', '$.a')).to.equal('*1\r\n*1\r\n$7\r\ninteger\r\n');
    expect(ask3('JSON.TYPE', 'k', '.a')).to.equal('*1\r\n$7\r\ninteger\r\n');
    expect(ask3('JSON.GET', 'k', '$.a')).to.equal('$3\r\n[2]\r\n');
    expect(ask3('JSON.GET', 'k', 'FORMAT', 'EXPAND1', '$.c')).to.equal('*1\r\n*1\r\n$21\r\n[true,null,{"d":2.0}]\r\n');
    expect(ask3('JSON.GET', 'k', 'FORMAT', 'EXPAND', '$.c')).to.equal(
      '*1\r\n*1\r\n*3\r\n#t\r\n_\r\n%1\r\n$1\r\nd\r\n,2\r\n',
    );
    expect(ask3('JSON.GET', 'k', 'FORMAT', 'FOO', '$.c')).to.equal('-ERR wrong reply format\r\n');
  });

  it('send keyspace events for their changes, and no others', () => {
    const heard: string[] = [];
    const audience = {
      publish: (channel: string, message: string) => {
        heard.push(`${channel.replace('__keyevent@0__:', '')} ${message}`);
        return 0;
      },
    };
    const engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() }, audience as never);
    engine.settings.set('notify-keyspace-events', 'Ed');
    const lines = [
      ['JSON.SET', 'k', '$', '{"a":1,"t":true,"s":"x","l":[1,2,3]}'],
      ['JSON.SET', 'k', '$.a', '5', 'NX'],
      ['JSON.MSET', 'k', '$.a', '2'],
      ['JSON.MERGE', 'k', '$', '{"b":1}'],
      ['JSON.NUMINCRBY', 'k', '$.a', '1'],
      ['JSON.NUMINCRBY', 'k', '$.s', '1'],
      ['JSON.NUMMULTBY', 'k', '$.a', '2'],
      ['JSON.NUMPOWBY', 'k', '$.a', '2'],
      ['JSON.TOGGLE', 'k', '$.t'],
      ['JSON.STRAPPEND', 'k', '$.s', '"y"'],
      ['JSON.ARRAPPEND', 'k', '$.l', '4'],
      ['JSON.ARRINSERT', 'k', '$.l', '0', '0'],
      ['JSON.ARRPOP', 'k', '$.l'],
      ['JSON.ARRTRIM', 'k', '$.l', '0', '1'],
      ['JSON.CLEAR', 'k', '$.l'],
      ['JSON.DEL', 'k', '$.l'],
      ['JSON.GET', 'k'],
      ['JSON.FORGET', 'k'],
    ];
    for (const words of lines) engine.execute(findCommand(words)!, words, 0);
    expect(heard.map((line) => line.replace('json.', '').replace(' k', ''))).to.deep.equal([
      'set',
      'mset',
      'merge',
      'numincrby',
      'nummultby',
      'numpowby',
      'toggle',
      'strappend',
      'arrappend',
      'arrinsert',
      'arrpop',
      'arrtrim',
      'clear',
      'del',
      'del',
    ]);
  });
});
