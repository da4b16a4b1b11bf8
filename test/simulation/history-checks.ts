/**
 * Checks of the clients' observations: every answer and every failure must be possible under the promises of the
 * gateway.
 */
import { checkLinearizability, type Model, type Operation } from '../support/linearizability.js';
import { counterModel, registerModel } from '../support/linearizability-models.js';
import type { History } from './history.js';
import { Violation } from './violation.js';
import type { Place } from './workload.js';

export function checkGateways(history: History): void {
  for (const { ending, client, key } of history.attempts) {
    if (ending.kind !== 'broken') continue;
    throw new Violation('a gateway fails as promised', `${client} ${key}: ${String(ending.error)}`);
  }
}

export function checkHistories(history: History, places: readonly Place[]): void {
  const operations = history.operations();
  const keysOf = (kind: Place['kind']) => new Set(places.filter((place) => place.kind === kind).map(({ key }) => key));
  const [registers, counters] = [keysOf('register'), keysOf('counter')];
  check(operations.filter(({ key }) => registers.has(key)) as Operation<never, never>[], registerModel);
  check(operations.filter(({ key }) => counters.has(key)) as Operation<never, never>[], counterModel);
}

function check<State, Input, Output>(operations: Operation<Input, Output>[], model: Model<State, Input, Output>): void {
  const verdict = checkLinearizability(operations, model);
  if (verdict.kind === 'impossible') throw new Violation('histories are linearizable', verdict.explanation);
  if (verdict.kind === 'undecided') throw new Violation('the checker decides', `it gave up on ${verdict.key}`);
}
