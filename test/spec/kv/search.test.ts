/** Proves LIX1, LIX2, LIX3 with random programs; EV3. */
import { expect } from 'chai';
import {
  type Caller,
  type CommandSpec,
  findCommand,
  KvEngine,
  type Reply,
  rebuildingCommands,
  rebuildingPreamble,
} from '../../../src/domain/kv/index.js';
import { KvBench, readable, seededRandom } from '../../support/kv-bench.js';
import { NOW } from '../../support/kv-case.js';
import { SEARCH_CASES } from './cases/search.js';
import { describeCases } from './describe-cases.js';

describeCases('key-value: full-text indexes', SEARCH_CASES);

const NESTED: Caller = { isNested: true };
const JSON_INDEX = ['SEARCH.CREATE', 'i', 'ON', 'JSON', 'PREFIX', '1', 'd:', 'SCHEMA', 't', 'TEXT', 'n', 'I64', 'FAST'];
const HASH_INDEX = ['SEARCH.CREATE', 'h', 'ON', 'HASH', 'PREFIX', '1', 'h:', 'SCHEMA', 't', 'TEXT'];
const STREAM_INDEX = ['SEARCH.CREATE', 's', 'ON', 'STREAM', 'st', 'SCHEMA', 't', 'TEXT'];
const FILTERS = ['{}', '{"t":{"$eq":"red"}}', '{"t":{"$eq":"dark red"}}', '{"t":{"$regex":"[bd].*"}}'];

describe('key-value: full-text indexes and changing keys', () => {
  let bench: KvBench;
  const ask = (...words: string[]): unknown => readable(bench.run(words).reply);

  beforeEach(() => {
    bench = new KvBench();
  });

  /** The scores of all documents by key, in each filter. */
  function answersOf(engine: KvEngine, index: string): unknown[] {
    engine.searches.workUntil(() => false);
    return FILTERS.map((filter) => {
      const words = ['SEARCH.QUERY', index, filter, 'NOCONTENT', 'LIMIT', '1000'];
      const reply = engine.execute(findCommand(words) as CommandSpec, words, bench.nowMs) as Reply;
      return (readable(reply) as string[][] | null)?.map((one) => one.join()).sort();
    });
  }

  it('are equal to those made from the keys, after any changes of the keys', () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      bench = new KvBench(seed);
      const dice = seededRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(dice.float() * list.length)] as T;
      const text = () =>
        Array.from({ length: 1 + Math.floor(dice.float() * 4) }, () => pick(['red', 'dark', 'blue'])).join(' ');
      const json = () => JSON.stringify({ t: text(), n: Math.floor(dice.float() * 9) });
      const id = () => Math.floor(dice.float() * 6);
      const commands: readonly (() => string[])[] = [
        () => ['JSON.SET', `d:${id()}`, '$', json()],
        () => ['JSON.SET', `d:${id()}`, '$.t', JSON.stringify(text())],
        () => ['JSON.STRAPPEND', `d:${id()}`, '$.t', JSON.stringify(` ${text()}`)],
        () => ['HSET', `h:${id()}`, 't', text()],
        () => ['HDEL', `h:${id()}`, 't'],
        () => ['DEL', pick([`d:${id()}`, `h:${id()}`, 'st'])],
        () => ['RENAME', pick([`d:${id()}`, `x:${id()}`]), pick([`d:${id()}`, `x:${id()}`])],
        () => ['COPY', `d:${id()}`, `d:${id()}`, 'REPLACE'],
        () => ['SET', `d:${id()}`, 'text'],
        () => ['PEXPIRE', `d:${id()}`, '50'],
        () => ['XADD', 'st', '*', 't', text()],
        () => ['XTRIM', 'st', 'MAXLEN', '3'],
        () => pick([JSON_INDEX, HASH_INDEX, STREAM_INDEX]).slice(),
        () =>
          pick([
            ['FLUSHALL'],
            ['SEARCH.DROP', 'h'],
            ['SEARCH.REINDEX', 'i'],
            ['RENAME', 'i', 'k'],
            ['RENAME', 'k', 'i'],
          ]),
        () => ['SEARCH.COUNT', pick(['i', 'h', 's']), '{}'],
      ];
      for (let count = 0; count < 300; count += 1) {
        const words = dice.float() < 0.002 ? ['FLUSHALL'] : pick(commands)();
        if (words[0] === 'FLUSHALL' && dice.float() < 0.9) continue;
        bench.run(words);
        bench.nowMs += 1;
        if (count % 20 === 0) bench.expireDue(100);
        if (dice.float() < 0.2) bench.engine.searches.workUntil(() => dice.float() < 0.3);
      }
      bench.expireDue(100);
      const anew = copyOf(bench.engine);
      for (const index of ['i', 'k', 'h', 's']) {
        expect(answersOf(bench.engine, index), `seed ${seed}, index ${index}`).to.deep.equal(answersOf(anew, index));
      }
      bench.expectReplayed();
      bench.expectRebuilt();
    }
  });

  it('find a document of an earlier command of the same transaction only after it', () => {
    ask(...JSON_INDEX);
    ask('SEARCH.WAITINDEXING', 'i');
    ask('JSON.SET', 'd:1', '$', '{"t":"red"}');
    bench.caller = NESTED;
    expect(ask('SEARCH.COUNT', 'i', '{}')).to.equal(0);
    expect(ask('SEARCH.WAITINDEXING', 'i')).to.equal('-ERR a transaction or script cannot wait for an index');
    bench.caller = {};
    expect(ask('SEARCH.COUNT', 'i', '{}')).to.equal(1);
  });

  it('answer without contents in transactions and scripts only', () => {
    ask(...JSON_INDEX);
    ask('SEARCH.WAITINDEXING', 'i');
    bench.caller = NESTED;
    expect(ask('SEARCH.QUERY', 'i', '{}')).to.equal('-ERR SEARCH.QUERY needs NOCONTENT in a transaction or script');
    expect(ask('SEARCH.QUERY', 'i', '{}', 'NOCONTENT')).to.deep.equal([]);
  });

  it('have no trace of a transaction that was undone', () => {
    ask(...JSON_INDEX);
    ask('JSON.SET', 'd:1', '$', '{"t":"red"}');
    ask('SEARCH.WAITINDEXING', 'i');
    const { run } = bench.engine;
    run.begin();
    ask('JSON.SET', 'd:1', '$.t', '"blue"');
    ask('JSON.SET', 'd:2', '$', '{"t":"red"}');
    ask('RENAME', 'i', 'k');
    expect(run.undo()).to.equal(true);
    expect(ask('SEARCH.QUERY', 'i', '{"t":{"$eq":"red"}}', 'NOCONTENT')).to.have.length(1);
    expect(ask('SEARCH.COUNT', 'i', '{"t":{"$eq":"blue"}}')).to.equal(0);
  });

  it('are charged to their database', () => {
    ask(...JSON_INDEX);
    const before = ask('MEMORY', 'USAGE', 'i') as number;
    for (let id = 0; id < 100; id += 1) ask('JSON.SET', `d:${id}`, '$', `{"t":"word${id} red blue"}`);
    ask('SEARCH.WAITINDEXING', 'i');
    expect((ask('MEMORY', 'USAGE', 'i') as number) - before).to.be.greaterThan(20_000);
    bench.engine.searches.workUntil(() => false);
    expect(bench.engine.keyspace.derivedBytes).to.be.greaterThan(20_000);
    ask('SEARCH.DROP', 'i');
    bench.engine.searches.workUntil(() => false);
    expect(bench.engine.keyspace.derivedBytes).to.equal(0);
  });

  it('charge a repeated word less than a different one', () => {
    const chargeOf = (text: string) => {
      bench = new KvBench();
      ask('SEARCH.CREATE', 'i', 'ON', 'STRING', 'PREFIX', '1', 'd:', 'SCHEMA', 't', 'TEXT');
      ask('SET', 'd:1', JSON.stringify({ t: text }));
      ask('SEARCH.WAITINDEXING', 'i');
      return ask('MEMORY', 'USAGE', 'i') as number;
    };
    const words = Array.from({ length: 100 }, (_, at) => `w${at}`).join(' ');
    const [one, repeated, different] = ['w1', 'w1 '.repeat(100), words].map(chargeOf) as [number, number, number];
    expect(repeated - one).to.be.within(99 * 2, 99 * 20);
    expect(different - one).to.be.within(99 * 400, 99 * 600);
  });

  it('are not evicted, but their documents are', () => {
    ask(...JSON_INDEX);
    for (let id = 0; id < 50; id += 1) ask('JSON.SET', `d:${id}`, '$', '{"t":"red"}');
    ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random', 'maxmemory', '1000');
    for (let turn = 0; turn < 3; turn += 1) bench.engine.removal.makeRoom(bench.nowMs);
    expect(ask('TYPE', 'i')).to.equal('+search');
    expect(ask('SEARCH.COUNT', 'i', '{}')).to.be.lessThan(50);
  });

  it('survive DUMP and RESTORE', () => {
    ask(...JSON_INDEX);
    ask('JSON.SET', 'd:1', '$', '{"t":"red"}');
    const payload = ask('DUMP', 'i') as string;
    ask('FLUSHALL');
    ask('JSON.SET', 'd:2', '$', '{"t":"red"}');
    expect(ask('RESTORE', 'copy', '0', payload)).to.equal('+OK');
    expect(ask('SEARCH.COUNT', 'copy', '{"t":"red"}')).to.equal(1);
    bench.expectReplayed();
  });

  it('leave out keys that exist when they are created, with SKIPINITIALSCAN', () => {
    ask('JSON.SET', 'd:1', '$', '{"t":"red"}');
    ask('SEARCH.CREATE', 'i', 'SKIPINITIALSCAN', ...JSON_INDEX.slice(2));
    ask('JSON.SET', 'd:2', '$', '{"t":"red"}');
    expect(ask('SEARCH.COUNT', 'i', '{}')).to.equal(1);
    ask('SEARCH.REINDEX', 'i');
    expect(ask('SEARCH.COUNT', 'i', '{}')).to.equal(2);
  });

  it('are built again when many documents were replaced, and keep the order of writing', () => {
    ask(...JSON_INDEX);
    for (const id of [3, 1, 2]) ask('JSON.SET', `d:${id}`, '$', '{"t":"red"}');
    for (let round = 0; round < 1100; round += 1) ask('JSON.SET', 'd:9', '$', `{"t":"word${round}"}`);
    bench.engine.searches.workUntil(() => false);
    for (let round = 0; round < 1100; round += 1) {
      ask('JSON.SET', 'd:9', '$', `{"t":"word${round}"}`);
      bench.engine.searches.workUntil(() => false);
    }
    const live = bench.engine.searches.find('i');
    expect(live?.contents.ordinals).to.be.lessThan(1110);
    const keys = (ask('SEARCH.QUERY', 'i', '{"t":{"$eq":"red"}}', 'NOCONTENT') as string[][]).map(([key]) => key);
    expect(keys).to.deep.equal(['d:3', 'd:1', 'd:2']);
  });

  it('refuse more than a database may have', () => {
    for (let count = 0; count < 32; count += 1)
      expect(ask('SEARCH.CREATE', `i${count}`, ...JSON_INDEX.slice(2))).to.equal(1);
    expect(ask(...JSON_INDEX)).to.equal('-ERR A database has at most 32 indexes');
  });

  it('are read from a stored form, and each document is compared with its key (LIX3)', () => {
    const schema = 'SCHEMA t TEXT n I64 FAST kind KEYWORD tree FACET on BOOL at DATE FAST w TEXT NOTOKENIZE'.split(' ');
    for (const source of ['JSON', 'STRING', 'HASH']) {
      bench = new KvBench(3);
      const dice = seededRandom(3);
      const below = (most: number) => Math.floor(dice.float() * most);
      const write = (id: number) => {
        const words = Array.from({ length: 1 + below(9) }, () => ['red', 'dark', 'blue', `rare${below(50)}`][below(4)]);
        const values = { t: words.join(' '), n: below(3) === 0 ? 2 ** 60 : below(9), kind: `k${below(5)}` };
        const more = { tree: `/a/${below(3)}`, on: below(2) === 0, at: '2026-01-02', w: words[0] };
        const all = JSON.stringify(source === 'HASH' ? values : { ...values, ...more, t: [values.t, 'second'] });
        if (source === 'JSON') ask('JSON.SET', `d:${id}`, '$', all);
        else if (source === 'STRING') ask('SET', `d:${id}`, all);
        else ask('HSET', `d:${id}`, ...Object.entries({ ...values, ...more }).flatMap(([k, v]) => [k, String(v)]));
      };
      ask('SEARCH.CREATE', 'i', 'ON', source, 'PREFIX', '1', 'd:', ...schema);
      for (let id = 0; id < 400; id += 1) write(id);
      for (let id = 0; id < 400; id += 9) ask('DEL', `d:${id}`);
      ask('SEARCH.WAITINDEXING', 'i');
      const pieces: Uint8Array[] = [];
      const [live] = [...bench.engine.searches.all()];
      for (const piece of live?.pieces() ?? []) {
        if (piece !== undefined) pieces.push(piece);
        // Changes between two pieces.
        ask(below(2) === 0 ? 'DEL' : 'TOUCH', `d:${below(400)}`);
        write(below(500));
        bench.engine.searches.workUntil(() => false);
      }
      for (let id = 0; id < 400; id += 7) write(id);
      for (let id = 0; id < 400; id += 11) ask('DEL', `d:${id}`);
      const filters = [
        ...FILTERS,
        '{"kind":"k1"}',
        '{"tree":"/a"}',
        '{"on":true}',
        '{"n":1152921504606846976}',
        '{"w":"red"}',
      ];
      const answers = (engine: KvEngine) =>
        filters.map((filter) => {
          const words = ['SEARCH.QUERY', 'i', filter, 'NOCONTENT', 'LIMIT', '1000'];
          const reply = readable(engine.execute(findCommand(words) as CommandSpec, words, bench.nowMs) as Reply);
          return Array.isArray(reply) ? (reply as string[][]).map((one) => one.join()).sort() : reply;
        });
      const built = copyOf(bench.engine);
      built.searches.workUntil(() => false);
      const read = copyOf(bench.engine, true);
      read.searches.workUntil(() => false);
      expect(answers(read)[0]).to.equal('-ERR Index i is being built, try again');
      const stored = Buffer.concat(pieces);
      for (const one of read.searches.all()) one.begin(stored);
      read.searches.workUntil(() => false);
      expect(answers(read), source).to.deep.equal(answers(built));
      const busy = copyOf(bench.engine, true);
      for (const one of busy.searches.all()) one.begin(stored);
      for (let id = 0; busy.searches.hasWork && id < 100; id += 1) {
        let steps = 0;
        busy.searches.workUntil(() => {
          steps += 1;
          return steps > 1;
        });
        for (const key of [`d:${below(400)}`, `d:${id}`]) {
          const words = ['DEL', key];
          busy.execute(findCommand(words) as CommandSpec, words, bench.nowMs);
        }
      }
      busy.searches.workUntil(() => false);
      const rebuilt = copyOf(busy);
      rebuilt.searches.workUntil(() => false);
      expect(answers(busy), `${source}, deleted during the comparison`).to.deep.equal(answers(rebuilt));
      const damaged = copyOf(bench.engine, true);
      for (const one of damaged.searches.all()) one.begin(stored.subarray(0, stored.length >>> 1));
      damaged.searches.workUntil(() => false);
      expect(answers(damaged), source).to.deep.equal(answers(built));
    }
  });

  it('are not searched by scripts and transactions in a database of several partitions', () => {
    bench.caller = { slots: { index: 0, partitions: 2 }, isNested: true };
    expect(ask(...JSON_INDEX)).to.equal(1);
    for (const words of [
      ['SEARCH.QUERY', 'i', '{}', 'NOCONTENT'],
      ['SEARCH.COUNT', 'i', '{}'],
      ['SEARCH.DESCRIBE', 'i'],
    ]) {
      expect(ask(...words)).to.equal(`-ERR ${words[0]} needs a database of one partition in a transaction or script`);
    }
  });
});

/** An engine with the same keys and without indexes, which must be built. */
function copyOf(engine: KvEngine, hasFiles = false): KvEngine {
  const copy = new KvEngine(seededRandom(1), { nowMicros: () => NOW * 1000, info: () => new Map() });
  copy.searches.hasFiles = hasFiles;
  for (const words of rebuildingPreamble(engine)) copy.replay(words);
  for (const [key, value, atMs] of engine.keyspace.entries()) {
    for (const words of rebuildingCommands(key, value, atMs)) copy.replay(words);
  }
  return copy;
}
