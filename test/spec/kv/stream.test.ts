/** Proves SO2, SMP1, SMP2. */
import { expect } from 'chai';
import { Blocked, type Caller, OK } from '../../../src/domain/kv/index.js';
import { MAX_RECORD_BYTES } from '../../../src/domain/kv/limits.js';
import type { Stream } from '../../../src/domain/kv/types/stream.js';
import { MAX_PRODUCERS } from '../../../src/domain/kv/types/stream-producers.js';
import { KvBench, readable } from '../../support/kv-bench.js';
import { kvCase, NOW } from '../../support/kv-case.js';
import { STREAM_CASES, STREAM_MESSAGE_CASES } from './cases/index.js';
import { describeCases } from './describe-cases.js';

const WAITS: Caller = { endpoint: 'resp', mayBlock: true };

describeCases('key-value commands: streams', STREAM_CASES);
describeCases('key-value commands: messages of streams', STREAM_MESSAGE_CASES);

const READ = [
  'XADD s 1-1 a 1',
  'XADD s 2-1 a 2',
  'XADD s 3-1 b 3',
  'XGROUP CREATE s g 0',
  'XREADGROUP GROUP g c COUNT 2 STREAMS s >',
];

/** Not among all cases, because idle times are of the clock, and Redis knows the option since 8.4. */
describeCases('key-value commands: XREADGROUP … CLAIM', [
  kvCase(
    'XREADGROUP CLAIM answers idle entries of all consumers, then new ones, each with idle time and deliveries',
    READ,
    'XREADGROUP GROUP g d CLAIM 0 STREAMS s >',
    [
      [
        's',
        [
          ['1-1', ['a', '1'], 0, 1],
          ['2-1', ['a', '2'], 0, 1],
          ['3-1', ['b', '3'], 0, 0],
        ],
      ],
    ],
  ),
  kvCase(
    'XREADGROUP CLAIM with COUNT takes idle entries first',
    READ,
    'XREADGROUP GROUP g d COUNT 1 CLAIM 0 STREAMS s >',
    [['s', [['1-1', ['a', '1'], 0, 1]]]],
  ),
  kvCase(
    'XREADGROUP CLAIM leaves entries that were delivered lately',
    READ,
    'XREADGROUP GROUP g d CLAIM 1 STREAMS s >',
    [['s', [['3-1', ['b', '3'], 0, 0]]]],
  ),
  kvCase(
    'XREADGROUP CLAIM leaves deleted entries pending',
    [...READ, 'XDEL s 1-1'],
    'XREADGROUP GROUP g d COUNT 1 CLAIM 0 STREAMS s >',
    [['s', [['2-1', ['a', '2'], 0, 1]]]],
  ),
  kvCase('XREADGROUP CLAIM has no effect on the own history', READ, 'XREADGROUP GROUP g c CLAIM 0 STREAMS s 1-1', [
    ['s', [['2-1', ['a', '2']]]],
  ]),
  kvCase(
    'XREADGROUP CLAIM with NOACK claims idle entries',
    READ,
    'XREADGROUP GROUP g d CLAIM 0 NOACK STREAMS s >',
    (reply) => JSON.stringify(reply).includes('["3-1",["b","3"],0,0]'),
    [
      'XGROUP CREATECONSUMER s g d',
      `XCLAIM s g d 0 1-1 2-1 TIME ${NOW} RETRYCOUNT 2 FORCE JUSTID LASTID 2-1`,
      'XGROUP SETID s g 3-1 ENTRIESREAD 3',
    ],
  ),
  kvCase(
    'XREADGROUP CLAIM refuses a negative time',
    READ,
    'XREADGROUP GROUP g d CLAIM -1 STREAMS s >',
    '-ERR min-idle-time must be a positive integer',
    [],
  ),
  kvCase(
    'XREADGROUP CLAIM refuses another word',
    READ,
    'XREADGROUP GROUP g d CLAIM x STREAMS s >',
    '-ERR min-idle-time is not an integer or out of range',
    [],
  ),
  kvCase(
    'XREAD refuses CLAIM',
    READ,
    'XREAD CLAIM 0 STREAMS s 0',
    '-ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.',
    [],
  ),
]);

const STREAMS = ['XADD s 1-1 a 1', 'XADD s 2-1 a 2', 'XADD t 1-1 b 1', 'XADD t 2-1 b 2'];
const GROUPS = [...STREAMS, 'XGROUP CREATE s g 0', 'XGROUP CREATE t g 0'];
const THREE_ENTRIES = '[["s",[["1-1",["a","1"]],["2-1",["a","2"]]]],["t",[["1-1",["b","1"]]]]]';
const TWO_ENTRIES = '[["s",[["1-1",["a","1"]],["2-1",["a","2"]]]]]';
const ONE_ENTRY = '[["s",[["1-1",["a","1"]]]]]';
const equal = (expected: string) => (reply: unknown) => JSON.stringify(reply) === expected;

/** Not among all cases, because Redis knows the options since 8.10. */
describeCases('key-value commands: bounds for reads of several streams', [
  kvCase(
    'XREAD MAXCOUNT bounds the entries of all streams',
    STREAMS,
    'XREAD MAXCOUNT 3 STREAMS s t 0 0',
    equal(THREE_ENTRIES),
  ),
  kvCase(
    'XREAD MAXCOUNT skips further streams',
    STREAMS,
    'XREAD COUNT 2 MAXCOUNT 2 STREAMS s t 0 0',
    equal(TWO_ENTRIES),
  ),
  kvCase(
    'XREAD MAXSIZE answers the first entry in any case',
    STREAMS,
    'XREAD MAXSIZE 1 STREAMS s t 0 0',
    equal(ONE_ENTRY),
  ),
  kvCase('XREAD MAXSIZE bounds the bytes', STREAMS, 'XREAD MAXSIZE 180 STREAMS s t 0 0', equal(TWO_ENTRIES)),
  kvCase(
    'XREAD refuses MAXCOUNT below COUNT',
    STREAMS,
    'XREAD COUNT 3 MAXCOUNT 2 STREAMS s 0',
    '-ERR MAXCOUNT must not be less than COUNT',
  ),
  kvCase(
    'XREAD refuses MAXCOUNT 0',
    STREAMS,
    'XREAD MAXCOUNT 0 STREAMS s 0',
    '-ERR MAXCOUNT must be a positive integer',
  ),
  kvCase('XREAD refuses MAXSIZE 0', STREAMS, 'XREAD MAXSIZE 0 STREAMS s 0', '-ERR MAXSIZE must be a positive integer'),
  kvCase(
    'XREADGROUP MAXCOUNT delivers no further entries',
    GROUPS,
    'XREADGROUP GROUP g c MAXCOUNT 3 STREAMS s t > >',
    equal(THREE_ENTRIES),
  ),
  kvCase(
    'XREADGROUP MAXSIZE delivers no further entries',
    GROUPS,
    'XREADGROUP GROUP g c MAXSIZE 1 STREAMS s t > >',
    equal(ONE_ENTRY),
  ),
  kvCase(
    'entries beyond MAXCOUNT stay undelivered',
    [...GROUPS, 'XREADGROUP GROUP g c MAXCOUNT 3 STREAMS s t > >'],
    'XREADGROUP GROUP g c STREAMS t >',
    equal('[["t",[["2-1",["b","2"]]]]]'),
  ),
  kvCase(
    'XREADGROUP MAXCOUNT bounds claimed and new entries together',
    [...GROUPS, 'XREADGROUP GROUP g c COUNT 1 STREAMS s >'],
    'XREADGROUP GROUP g d MAXCOUNT 2 CLAIM 0 STREAMS s t > >',
    equal('[["s",[["1-1",["a","1"],0,1],["2-1",["a","2"],0,0]]]]'),
  ),
  kvCase(
    'XREADGROUP MAXCOUNT bounds the own history',
    [...GROUPS, 'XREADGROUP GROUP g c STREAMS s >'],
    'XREADGROUP GROUP g c MAXCOUNT 1 STREAMS s 0',
    equal(ONE_ENTRY),
  ),
]);

describe('key-value: XREADGROUP … CLAIM that waits', () => {
  it('waits until the first pending entry becomes idle, at most, and takes the one that has waited longest', () => {
    const bench = new KvBench();
    bench.caller = WAITS;
    for (const line of READ) bench.line(line);
    bench.line('XREADGROUP GROUP g c STREAMS s >');
    bench.nowMs += 100;
    bench.line('XCLAIM s g c 0 1-1');
    bench.nowMs += 100;
    const waits = (line: string) => (bench.line(line).reply as unknown as Blocked).timeoutMs;
    expect(waits('XREADGROUP GROUP g d BLOCK 0 CLAIM 1000 STREAMS s >')).to.equal(800);
    expect(waits('XREADGROUP GROUP g d BLOCK 300 CLAIM 1000 STREAMS s >')).to.equal(300);
    const reply = readable(bench.line('XREADGROUP GROUP g d COUNT 2 CLAIM 50 STREAMS s >').reply);
    expect(JSON.stringify(reply)).to.equal('[["s",[["2-1",["a","2"],200,1],["3-1",["b","3"],200,1]]]]');
    bench.expectReplayed();
  });
});

describe('key-value commands: longer streams', () => {
  it('trim with ~ almost exactly over REST, and by whole nodes over RESP', () => {
    for (const [endpoint, left] of [
      ['rest', 30],
      ['resp', 100],
    ] as const) {
      const bench = filled(1000);
      bench.caller = { endpoint };
      expect(bench.line('XTRIM s MAXLEN ~ 30').effects).to.deep.equal([`XTRIM s MAXLEN = ${left}`]);
      bench.expectReplayed();
    }
  });

  it('trim at most LIMIT entries with ~', () => {
    const bench = filled(1000);
    bench.caller = { endpoint: 'resp' };
    expect(bench.line('XTRIM s MAXLEN ~ 0 LIMIT 250').reply).to.equal(200);
  });

  it('count whole nodes against LIMIT, although DELREF and ACKED check each of their entries', () => {
    for (const [line, removed, read] of [
      ['XTRIM s MAXLEN ~ 30 LIMIT 250 DELREF', 200, false],
      ['XTRIM s MAXLEN ~ 950 LIMIT 99 DELREF', 0, false],
      ['XTRIM s MAXLEN ~ 950 LIMIT 100 DELREF', 50, false],
      ['XTRIM s MINID ~ 151-1 LIMIT 199 ACKED', 100, false],
      ['XTRIM s MINID ~ 151-1 LIMIT 200 ACKED', 150, false],
      // Only one entry of the first node is acknowledged. The second node would exceed LIMIT.
      ['XTRIM s MAXLEN ~ 0 LIMIT 100 ACKED', 1, true],
    ] as const) {
      const bench = filled(1000);
      bench.caller = { endpoint: 'resp' };
      if (read) {
        bench.line('XGROUP CREATE s g 0');
        bench.line('XREADGROUP GROUP g c STREAMS s >');
        bench.line('XACK s g 7-1 107-1');
      }
      expect(bench.line(line).reply, line).to.equal(removed);
      bench.expectReplayed();
    }
  });

  it('trim to LIMIT exactly over REST', () => {
    for (const references of ['KEEPREF', 'DELREF', 'ACKED']) {
      expect(filled(1000).line(`XTRIM s MAXLEN ~ 30 LIMIT 250 ${references}`).reply, references).to.equal(250);
    }
  });

  it('answer, trim and rebuild more entries than one slice has', () => {
    const bench = filled(7000);
    for (const line of ['XRANGE s - +', 'XREVRANGE s + -']) {
      expect(bench.line(line).reply, line).to.have.length(7000);
    }
    expect(bench.line('XRANGE s - + COUNT 2500').reply).to.have.length(2500);
    bench.line('XGROUP CREATE s g 0');
    bench.caller = { endpoint: 'resp' };
    bench.line('XREADGROUP GROUP g c STREAMS s >');
    bench.expectReplayed();
    bench.expectRebuilt();
    expect(bench.line('XTRIM s MAXLEN 1').reply).to.equal(6999);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('refuse an entry that would exceed the largest record', () => {
    const bench = filled(1);
    const half = 'x'.repeat(MAX_RECORD_BYTES / 2);
    expect(bench.run(['XADD', 's', '2-1', 'f', half]).reply).to.equal('2-1');
    expect(readable(bench.run(['XADD', 's', '3-1', 'f', half]).reply)).to.equal('-ERR max single record size exceeded');
    expect(bench.line('XLEN s').reply).to.equal(2);
  });

  it('rebuild pending deleted entries, and an empty stream', () => {
    const bench = filled(10);
    bench.line('XGROUP CREATE s g 0');
    bench.line('XREADGROUP GROUP g c STREAMS s >');
    bench.line('XDEL s 3-1 7-1');
    bench.line('XTRIM s MAXLEN 2');
    bench.line('XGROUP CREATE t g $ MKSTREAM');
    bench.expectRebuilt();
    bench.line('XTRIM s MAXLEN 0');
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  for (const entries of [10, 5000]) {
    it(`include pending deleted entries in COPY and DUMP, with ${entries} entries`, () => {
      const bench = filled(entries);
      const kept = entries / 2;
      bench.line('XGROUP CREATE s g 0');
      // Names that are also words of the commands that restore the stream.
      bench.line('XGROUP CREATE s ENTRIESREAD 0');
      bench.line('XGROUP CREATE s - 0');
      bench.line(`XREADGROUP GROUP g c COUNT ${kept} STREAMS s >`);
      bench.line('XREADGROUP GROUP g TIME COUNT 2 STREAMS s >');
      bench.line('XREADGROUP GROUP ENTRIESREAD d COUNT 3 STREAMS s >');
      bench.line(`XDEL s 1-1 3-1 ${kept + 1}-1 ${entries}-1`);
      const contentsOf = (key: string) => [...(bench.engine.keyspace.peek(key) as Stream).contents()].join('\n');
      const expectMoved = (title: string) => {
        const from = contentsOf('s');
        expect(from, title).to.match(/^1-1 /m);
        const payload = bench.run(['DUMP', 's']).reply as string;
        expect(bench.run(['RESTORE', 'dumped', '0', payload, 'REPLACE']).reply).to.deep.equal(OK);
        expect(contentsOf('dumped'), `${title}: DUMP and RESTORE`).to.equal(from);
        expect(bench.line('COPY s copied REPLACE').reply).to.equal(1);
        expect(contentsOf('copied'), `${title}: COPY`).to.equal(from);
      };
      expectMoved('some deleted');
      bench.line('XTRIM s MAXLEN 0');
      expectMoved('all deleted');
      bench.expectReplayed();
      bench.expectRebuilt();
    });
  }
});

describe('key-value commands: consumer groups over REST', () => {
  it('create no consumer for a read with NOACK', () => {
    const bench = filled(3);
    bench.line('XGROUP CREATE s g 0');
    bench.line('XREADGROUP GROUP g c NOACK STREAMS s >');
    expect(bench.line('XINFO CONSUMERS s g').reply).to.deep.equal([]);
    bench.caller = { endpoint: 'resp' };
    bench.line('XREADGROUP GROUP g c NOACK STREAMS s >');
    expect(bench.line('XINFO CONSUMERS s g').reply).to.have.length(1);
    bench.expectReplayed();
  });

  it('limit a consumer to a thousand pending entries', () => {
    const bench = filled(1500);
    bench.line('XGROUP CREATE s g 0');
    bench.line('XREADGROUP GROUP g c COUNT 990 STREAMS s >');
    expect(readable(bench.line('XREADGROUP GROUP g c COUNT 11 STREAMS s >').reply)).to.equal(
      '-ERR XReadGroup is cancelled. Pending Entries List limit per consumer is about to be reached. Limit: 1000, ' +
        'Current PEL size: 990, Requested Read: 11, Key: s, Group: g, Consumer: c.',
    );
    expect(bench.line('XREADGROUP GROUP g c COUNT 10 STREAMS s >').reply).not.to.equal(null);
    expect(bench.line('XPENDING s g').reply).to.have.property('0', 1000);
  });

  it('refuse to block', () => {
    const bench = filled(1);
    for (const line of ['XREAD BLOCK 0 STREAMS s $', 'XREADGROUP GROUP g c BLOCK 0 STREAMS s >']) {
      expect(readable(bench.line(line).reply)).to.equal('-ERR BLOCK is not supported over REST');
    }
  });
});

describe('key-value commands: waiting for entries', () => {
  it('resolves $ and + when the wait starts', () => {
    const bench = filled(3);
    bench.caller = WAITS;
    const blocked = bench.line('XREAD COUNT 5 BLOCK 100 STREAMS s t $ +').reply as unknown as Blocked;
    expect(blocked).to.be.instanceOf(Blocked);
    expect(blocked.keys).to.deep.equal(['s', 't']);
    expect(blocked.timeoutMs).to.equal(100);
    expect(blocked.words).to.deep.equal(['XREAD', 'COUNT', '5', 'BLOCK', '100', 'STREAMS', 's', 't', '3-1', '0-0']);
    bench.line('XADD t 1-1 a 1');
    expect(readable(bench.run(blocked.words ?? []).reply)).to.deep.equal([['t', [['1-1', ['a', '1']]]]]);
  });

  it('continues while a key holds another type', () => {
    const bench = filled(1);
    bench.caller = WAITS;
    const { words = [] } = bench.line('XREAD BLOCK 0 STREAMS s $').reply as unknown as Blocked;
    bench.line('SET s v');
    expect(bench.run(words).reply).to.be.instanceOf(Blocked);
    expect(readable(bench.line('XREAD BLOCK 0 STREAMS s $').reply)).to.match(/^-WRONGTYPE/);
  });

  it('reports to a waiting consumer that its group is gone', () => {
    const bench = filled(0);
    bench.line('XGROUP CREATE s g $ MKSTREAM');
    bench.caller = WAITS;
    const line = 'XREADGROUP GROUP g c BLOCK 0 STREAMS s >';
    expect(bench.line(line).reply).to.be.instanceOf(Blocked);
    bench.line('XGROUP DESTROY s g');
    expect(readable(bench.line(line).reply)).to.match(/^-NOGROUP/);
  });

  it('answers immediately where blocking is not possible, and where ids are given', () => {
    const bench = filled(1);
    bench.line('XGROUP CREATE s g $');
    bench.caller = { endpoint: 'resp' };
    expect(readable(bench.line('XREAD BLOCK 0 STREAMS s $').reply)).to.equal(null);
    bench.caller = WAITS;
    expect(readable(bench.line('XREADGROUP GROUP g c BLOCK 0 STREAMS s 0').reply)).to.deep.equal([['s', []]]);
  });
});

function filled(entries: number): KvBench {
  const bench = new KvBench();
  for (let i = 1; i <= entries; i += 1) bench.run(['XADD', 's', `${i}-1`, 'f', String(i)]);
  return bench;
}

describe('key-value: messages of producers', () => {
  it('are known again for the set time', () => {
    const bench = new KvBench();
    bench.line('XADD s IDMP p m * a 1');
    bench.line('XCFGSET s IDMP-DURATION 2');
    const first = bench.line('XADD s IDMP p m * a 1').reply;
    bench.nowMs += 1999;
    expect(bench.line('XADD s IDMP p m * a 1').reply).to.equal(first);
    bench.nowMs += 1;
    expect(bench.line('XADD s IDMP p m * a 1').reply).to.equal(`${bench.nowMs}-0`);
    bench.expectReplayed();
    bench.expectRebuilt();
  });

  it('are shown by XINFO STREAM', () => {
    const bench = new KvBench();
    for (const line of ['XADD s IDMP p m * a 1', 'XADD s IDMP p m * a 1', 'XADD s IDMP q m * a 1']) bench.line(line);
    const shown = readable(bench.line('XINFO STREAM s').reply) as unknown[];
    const of = (name: string): unknown => shown[shown.indexOf(name) + 1];
    expect(
      ['idmp-duration', 'idmp-maxsize', 'pids-tracked', 'iids-tracked', 'iids-added', 'iids-duplicates'].map(of),
    ).to.deep.equal([100, 100, 2, 2, 2, 1]);
  });

  it('are those of the 1,000 producers that wrote last (SMP1), and survive a rebuild (SMP2)', () => {
    const bench = new KvBench();
    for (let i = 0; i <= MAX_PRODUCERS; i += 1) bench.line(`XADD s IDMP p${i} m * a 1`);
    expect(bench.line('XADD s IDMP p1 m * a 1').effects).to.deep.equal([]);
    expect(bench.line('XADD s IDMP p0 m * a 1').effects).to.have.length(2);
    bench.expectReplayed();
    bench.expectRebuilt();
  });
});

describe('key-value: released entries of a stream', () => {
  it('survive a rebuild, also those without an entry, and DUMP gives them to a consumer without a name', () => {
    const bench = new KvBench();
    for (const line of [...READ, 'XNACK s g FAIL IDS 2 1-1 2-1', 'XDEL s 1-1']) bench.line(line);
    bench.expectReplayed();
    bench.expectRebuilt();
    const payload = bench.line('DUMP s').reply as string;
    bench.run(['RESTORE', 't', '0', payload]);
    expect(readable(bench.line('XPENDING t g').reply)).to.deep.equal([2, '1-1', '2-1', [['', '2']]]);
  });

  it('wake a client that waits with CLAIM', () => {
    const bench = new KvBench();
    bench.caller = WAITS;
    for (const line of READ) bench.line(line);
    const words = ['XREADGROUP', 'GROUP', 'g', 'd', 'BLOCK', '0', 'CLAIM', '60000', 'STREAMS', 's', '>'];
    bench.run(['XREADGROUP', 'GROUP', 'g', 'd', 'STREAMS', 's', '>']);
    expect(bench.run(words).reply).to.be.instanceOf(Blocked);
    bench.line('XNACK s g SILENT IDS 1 1-1');
    const [[, entries]] = readable(bench.run(words).reply) as [[string, unknown[][]]];
    expect(entries.map(([id, , , deliveries]) => [id, deliveries])).to.deep.equal([['1-1', 0]]);
  });
});
