import { expect } from 'chai';
import { outcomeOf } from '../../support/kv-client.js';
import { ATOMIC_COUNTER, judge, UnknownMemory } from '../../support/ledger-judge.js';
import { type Effect, type LedgerOperation, parseLedger } from '../../support/ledger-operations.js';

const put = (key: string, value = 'v'): Effect => ({ type: 'put', key, value });
const add = (key: string): Effect => ({ type: 'add', key });

function acked(id: number, effects: Effect[], results: unknown[] = [], isAtomic = false): LedgerOperation {
  return { id, effects, isAtomic, is: 'acked', outcomes: effects.map((_, at) => ({ result: results[at] ?? 'OK' })) };
}
const unknown = (id: number, effects: Effect[], isAtomic = false): LedgerOperation => ({
  id,
  effects,
  isAtomic,
  is: 'unknown',
  why: 'reset',
});
const failed = (id: number, effects: Effect[]): LedgerOperation => ({
  id,
  effects,
  isAtomic: false,
  is: 'failed',
  why: 'nothing was executed',
});

describe('ledger', () => {
  it('accepts a state that matches it', () => {
    const operations = [
      acked(1, [put('a')]),
      failed(2, [put('b')]),
      unknown(3, [put('c')]),
      unknown(4, [put('d')]),
      acked(5, [add('n')], [1]),
      unknown(6, [add('n')]),
    ];
    const state = new Map([
      ['a', 'v'],
      ['b', null],
      ['c', 'v'],
      ['d', null],
      ['n', '2'],
    ]);
    expect(judge(operations, state)).to.deep.equal([]);
  });

  const bad: [string, LedgerOperation[], [string, string | null][], RegExp][] = [
    ['an acknowledged write that is gone', [acked(1, [put('a')])], [['a', null]], /acknowledged and is not there/],
    ['an acknowledged write with another value', [acked(1, [put('a')])], [['a', 'w']], /a is "w"/],
    ['a refused write that is there', [failed(1, [put('a')])], [['a', 'v']], /although it was refused/],
    ['a value that was never written', [unknown(1, [put('a')])], [['a', 'w']], /a is "w"/],
    [
      'half a transaction',
      [unknown(1, [put('a'), put('b')], true)],
      [
        ['a', 'v'],
        ['b', null],
      ],
      /1 of 2 writes of one transaction/,
    ],
    ['a lost increment', [acked(1, [add('n')], [1]), acked(2, [add('n')], [2])], [['n', '1']], /n is 1: 2 increments/],
    ['an increment too many', [acked(1, [add('n')], [1]), unknown(2, [add('n')])], [['n', '3']], /n is 3/],
    [
      'two increments with one answer',
      [acked(1, [add('n')], [1]), acked(2, [add('n')], [1])],
      [['n', '2']],
      /answered 1/,
    ],
    [
      'a transaction whose writes are there without its increment',
      [unknown(1, [put('a'), add(ATOMIC_COUNTER)], true)],
      [
        ['a', 'v'],
        [ATOMIC_COUNTER, null],
      ],
      /is 0: 1 increments/,
    ],
    [
      'a register that went back',
      [acked(1, [{ type: 'register', key: 'r', value: '1' }]), acked(2, [{ type: 'register', key: 'r', value: '2' }])],
      [['r', '1']],
      /r is "1", acknowledged last was "2"/,
    ],
  ];
  for (const [name, operations, state, expected] of bad) {
    it(`finds ${name}`, () => {
      const violations = judge(operations, new Map(state));
      expect(violations).to.have.length(1);
      expect(violations[0]).to.match(expected);
    });
  }

  it('finds a write of unknown outcome that appears after it was seen missing', () => {
    const memory = new UnknownMemory();
    const operations = [unknown(1, [put('a')])];
    expect(memory.compare(operations, new Map([['a', null]]))).to.deep.equal([]);
    expect(memory.compare(operations, new Map([['a', null]]))).to.deep.equal([]);
    expect(memory.compare(operations, new Map([['a', 'v']]))).to.have.length(1);
  });

  it('treats an intent without an outcome, and a cut-off line, as unknown', () => {
    const intent = JSON.stringify({ is: 'intent', id: 1, effects: [put('a')], isAtomic: false });
    const operations = parseLedger(`${intent}\n{"is":"acked","id":1,"outc`);
    expect(operations.map(({ is }) => is)).to.deep.equal(['unknown']);
  });

  it('treats an error as refused only when it says that the command was not executed', () => {
    const kindOf = (status: number, error: string) => outcomeOf(status, JSON.stringify({ error })).kind;
    expect(kindOf(503, 'ERR server is busy, nothing was executed')).to.equal('refused');
    expect(kindOf(503, 'ERR the command was not executed, outcome=not-applied')).to.equal('refused');
    expect(kindOf(503, 'ERR the command may or may not have been executed, outcome=unknown')).to.equal('unknown');
    expect(kindOf(500, 'ERR internal error')).to.equal('unknown');
    expect(kindOf(400, 'ERR syntax error')).to.equal('refused');
    expect(outcomeOf(200, '{"result":null}')).to.deep.equal({ kind: 'done', result: null });
    expect(outcomeOf(200, '{"res').kind).to.equal('unknown');
  });
});
