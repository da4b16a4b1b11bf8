/** The checker is checked: it must accept valid histories, and reject those of a broken store. */
import { expect } from 'chai';
import { checkLinearizability, type Operation } from '../../support/linearizability.js';
import {
  type CounterInput,
  type CounterOutput,
  counterModel,
  type RegisterInput,
  type RegisterOutput,
  registerModel,
} from '../../support/linearizability-models.js';

const UNKNOWN = Symbol('unknown');

type Line<Input, Output> = [
  client: string,
  calledAt: number,
  input: Input,
  outcome: Output | typeof UNKNOWN,
  at?: number,
];

function historyOf<Input, Output>(lines: Line<Input, Output>[], key = 'k'): Operation<Input, Output>[] {
  return lines.map(([client, calledAt, input, outcome, at]) =>
    outcome === UNKNOWN
      ? { client, key, input, calledAt, finalAt: at }
      : { client, key, input, calledAt, returned: { at: at ?? calledAt + 1, output: outcome as Output } },
  );
}

const register = (...lines: Line<RegisterInput, RegisterOutput>[]) =>
  checkLinearizability(historyOf(lines), registerModel).kind;
const counter = (...lines: Line<CounterInput, CounterOutput>[]) =>
  checkLinearizability(historyOf(lines), counterModel).kind;

const get: { readonly type: 'get' } = { type: 'get' };
const del: RegisterInput = { type: 'del' };
const set = (value: string): RegisterInput => ({ type: 'set', value });
const cas = (expected: string, value: string): RegisterInput => ({ type: 'cas', expected, value });
const incr = (by = 1): CounterInput => ({ type: 'incrby', by });

describe('linearizability: histories that a register allows', () => {
  it('accepts an empty history', () => {
    expect(register()).to.equal('linearizable');
  });

  it('accepts one client after the other', () => {
    const verdict = register(
      ['a', 1, get, null],
      ['a', 3, set('x'), 'OK'],
      ['b', 5, get, 'x'],
      ['b', 7, del, 1],
      ['a', 9, del, 0],
      ['a', 11, get, null],
    );
    expect(verdict).to.equal('linearizable');
  });

  it('accepts either value while a write is open', () => {
    for (const seen of ['old', 'new']) {
      const verdict = register(['a', 1, set('old'), 'OK'], ['a', 3, set('new'), 'OK', 9], ['b', 4, get, seen, 5]);
      expect(verdict).to.equal('linearizable');
    }
  });

  it('accepts an order that differs from the order of the calls', () => {
    const verdict = register(['a', 1, set('1'), 'OK', 10], ['b', 2, set('2'), 'OK', 9], ['c', 11, get, '1']);
    expect(verdict).to.equal('linearizable');
  });

  it('accepts compare-and-set that won, and one that lost to it', () => {
    const verdict = register(
      ['a', 1, set('0'), 'OK'],
      ['a', 3, cas('0', '1'), 'OK', 9],
      ['b', 3, cas('0', '2'), null, 9],
      ['c', 10, get, '1'],
    );
    expect(verdict).to.equal('linearizable');
  });

  it('accepts a write of unknown outcome that is never seen', () => {
    expect(register(['a', 1, set('x'), 'OK'], ['a', 3, set('y'), UNKNOWN], ['b', 50, get, 'x'])).to.equal(
      'linearizable',
    );
  });

  it('accepts a write of unknown outcome that lands long after', () => {
    const verdict = register(
      ['a', 1, set('x'), 'OK'],
      ['a', 3, set('y'), UNKNOWN],
      ['b', 50, get, 'x'],
      ['b', 60, set('z'), 'OK'],
      ['b', 70, get, 'z'],
      ['b', 80, get, 'y'],
    );
    expect(verdict).to.equal('linearizable');
  });

  it('decides a long history of overlapping clients quickly', () => {
    const lines: Line<RegisterInput, RegisterOutput>[] = [];
    for (let round = 0; round < 200; round += 1) {
      for (let client = 0; client < 4; client += 1) {
        lines.push([`c${client}`, round * 10 + client, set(`${round}/${client}`), 'OK', round * 10 + 8]);
      }
      lines.push(['reader', round * 10 + 9, get, `${round}/${round % 4}`, round * 10 + 9]);
    }
    expect(register(...lines)).to.equal('linearizable');
  });
});

describe('linearizability: histories that only a broken register produces', () => {
  it('rejects a stale read', () => {
    expect(register(['a', 1, set('1'), 'OK'], ['a', 3, set('2'), 'OK'], ['b', 5, get, '1'])).to.equal('impossible');
  });

  it('rejects a read that returns an older value than an earlier read, while the write is still open', () => {
    const verdict = register(
      ['a', 1, set('1'), 'OK'],
      ['a', 3, set('2'), 'OK', 20],
      ['b', 4, get, '2', 5],
      ['c', 6, get, '1', 7],
    );
    expect(verdict).to.equal('impossible');
  });

  it('rejects the read of a value that was never written', () => {
    expect(register(['a', 1, set('1'), 'OK'], ['b', 3, get, '7'])).to.equal('impossible');
  });

  it('rejects the loss of an acknowledged write', () => {
    expect(register(['a', 1, set('1'), 'OK'], ['b', 3, get, null])).to.equal('impossible');
  });

  it('rejects a value that comes back after it was overwritten', () => {
    const verdict = register(
      ['a', 1, set('1'), 'OK'],
      ['a', 3, set('2'), 'OK'],
      ['b', 5, get, '2'],
      ['b', 7, get, '1'],
    );
    expect(verdict).to.equal('impossible');
  });

  it('rejects the effect of a write that surely failed, because it is not in the history', () => {
    expect(register(['a', 1, set('1'), 'OK'], ['b', 5, get, 'failed'])).to.equal('impossible');
  });

  it('rejects the resurrection of a deleted value', () => {
    const verdict = register(['a', 1, set('1'), 'OK'], ['a', 3, del, 1], ['b', 5, get, null], ['b', 7, get, '1']);
    expect(verdict).to.equal('impossible');
  });

  it('rejects two winners of one compare-and-set', () => {
    const verdict = register(
      ['a', 1, set('0'), 'OK'],
      ['a', 3, cas('0', '1'), 'OK', 9],
      ['b', 3, cas('0', '2'), 'OK', 9],
    );
    expect(verdict).to.equal('impossible');
  });

  it('rejects a compare-and-set that failed without a conflicting write', () => {
    expect(register(['a', 1, set('0'), 'OK'], ['a', 3, cas('0', '1'), null])).to.equal('impossible');
  });

  it('rejects an unknown write that is seen before it was called', () => {
    expect(register(['b', 1, get, 'y'], ['a', 5, set('y'), UNKNOWN])).to.equal('impossible');
  });

  it('accepts a write with a final unknown outcome either before that or never', () => {
    expect(register(['a', 1, set('x'), UNKNOWN, 5], ['b', 2, get, null], ['b', 6, get, 'x'])).to.equal('linearizable');
    expect(register(['a', 1, set('x'), UNKNOWN, 5], ['b', 6, get, null], ['b', 9, get, null])).to.equal('linearizable');
  });

  it('rejects a write that takes effect after its outcome became final', () => {
    expect(register(['a', 1, set('x'), UNKNOWN, 5], ['b', 6, get, null], ['b', 9, get, 'x'])).to.equal('impossible');
  });

  it('rejects an unknown write that takes effect twice', () => {
    const verdict = register(
      ['a', 1, set('y'), UNKNOWN],
      ['b', 5, get, 'y'],
      ['b', 7, set('z'), 'OK'],
      ['b', 9, get, 'y'],
      ['b', 11, set('w'), 'OK'],
      ['b', 13, get, 'y'],
    );
    expect(verdict).to.equal('impossible');
  });

  it('names the key and the operation that it could not explain', () => {
    const good = historyOf<RegisterInput, RegisterOutput>([['a', 1, set('1'), 'OK']], 'good');
    const bad = historyOf<RegisterInput, RegisterOutput>([['a', 1, get, 'ghost']], 'bad');
    const verdict = checkLinearizability([...good, ...bad], registerModel);
    expect(verdict).to.include({ kind: 'impossible', key: 'bad' });
    expect((verdict as { explanation: string }).explanation).to.include('ghost');
  });

  it('reports that it gave up instead of success', () => {
    const lines: Line<RegisterInput, RegisterOutput>[] = [['a', 1, set('1'), 'OK']];
    for (let n = 0; n < 10; n += 1) lines.push([`c${n}`, 2, set(`${n}`), 'OK', 90]);
    expect(checkLinearizability(historyOf(lines), registerModel, 5).kind).to.equal('undecided');
  });
});

describe('linearizability: counters', () => {
  it('accepts overlapping increments with answers in some order', () => {
    const verdict = counter(
      ['a', 1, incr(), 2, 9],
      ['b', 2, incr(), 1, 8],
      ['c', 3, incr(), 3, 9],
      ['a', 10, get, '3'],
    );
    expect(verdict).to.equal('linearizable');
  });

  it('accepts unknown increments that landed, and ones that did not', () => {
    for (const sum of [1, 2, 3]) {
      const verdict = counter(['a', 1, incr(), UNKNOWN], ['b', 1, incr(), UNKNOWN], ['c', 9, incr(), sum]);
      expect(verdict).to.equal('linearizable');
    }
  });

  it('accepts an unknown increment that lands between two reads', () => {
    const verdict = counter(['a', 1, incr(5), 5], ['a', 3, incr(2), UNKNOWN], ['b', 9, get, '5'], ['b', 11, get, '7']);
    expect(verdict).to.equal('linearizable');
  });

  it('decides a history with thirty unknown increments quickly', () => {
    const lines: Line<CounterInput, CounterOutput>[] = [];
    for (let n = 0; n < 30; n += 1) lines.push([`u${n}`, n, incr(), UNKNOWN]);
    for (let n = 0; n < 30; n += 1) lines.push(['reader', 100 + n * 2, get, n === 0 ? null : String(n)]);
    expect(counter(...lines)).to.equal('linearizable');
  });

  it('rejects a lost update', () => {
    expect(counter(['a', 1, incr(), 1, 9], ['b', 1, incr(), 1, 9])).to.equal('impossible');
    expect(counter(['a', 1, incr(), 1], ['b', 3, incr(), 2], ['c', 5, get, '1'])).to.equal('impossible');
  });

  it('rejects an increment that was counted twice', () => {
    expect(counter(['a', 1, incr(), 1], ['b', 3, get, '2'])).to.equal('impossible');
    expect(counter(['a', 1, incr(), UNKNOWN], ['b', 3, get, '2'])).to.equal('impossible');
  });

  it('rejects the effect of an increment that surely failed', () => {
    expect(counter(['a', 1, incr(), 1], ['b', 5, incr(), 3])).to.equal('impossible');
  });

  it('rejects a sum that goes back', () => {
    expect(counter(['a', 1, incr(), 1], ['a', 3, incr(), 2], ['b', 5, get, '2'], ['b', 7, get, '1'])).to.equal(
      'impossible',
    );
  });
});

describe('linearizability: agreement with a search of every order', () => {
  it('gives the verdict of brute force on small random histories', () => {
    let accepted = 0;
    for (let seed = 1; seed <= 1500; seed += 1) {
      const history = randomHistory(seed);
      const expected = bruteForce(history);
      if (expected) accepted += 1;
      const verdict = checkLinearizability(history, registerModel).kind;
      expect(verdict, JSON.stringify(history)).to.equal(expected ? 'linearizable' : 'impossible');
    }
    expect(accepted).to.be.within(150, 1350);
  });
});

function randomHistory(seed: number): Operation<RegisterInput, RegisterOutput>[] {
  let state = seed * 2654435761;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return Array.from({ length: 5 }, (_, n) => {
    const calledAt = below(8) * 2;
    const value = `${below(2)}`;
    const kind = below(4);
    const [input, output]: [RegisterInput, RegisterOutput] =
      kind < 2
        ? [get, [null, '0', '1'][below(3)] as RegisterOutput]
        : kind === 2
          ? [set(value), 'OK']
          : [cas(`${below(2)}`, value), below(2) ? 'OK' : null];
    const operation = { client: `c${n}`, key: 'k', input, calledAt };
    if (below(4) === 0) return below(2) === 0 ? operation : { ...operation, finalAt: calledAt + 1 + below(4) * 2 };
    return { ...operation, returned: { at: calledAt + 1 + below(4) * 2, output } };
  });
}

/** Tries every order of every subset that holds all returned operations. */
function bruteForce(history: Operation<RegisterInput, RegisterOutput>[]): boolean {
  const extend = (rest: Operation<RegisterInput, RegisterOutput>[], state: string | null): boolean => {
    if (rest.every((operation) => operation.returned === undefined)) return true;
    return rest.some((operation) => {
      const isTooEarly = rest.some((other) => other.returned !== undefined && other.returned.at < operation.calledAt);
      if (isTooEarly) return false;
      const after = registerModel.step(state, operation.input, operation.returned?.output);
      if (after === undefined) return false;
      // Operations that had to take effect before this one was called, if at all, are dropped.
      const left = rest.filter((other) => other !== operation && !((other.finalAt ?? Infinity) < operation.calledAt));
      return extend(left, after.state);
    });
  };
  return extend(history, null);
}
