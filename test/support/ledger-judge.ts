/**
 * Compares the content of a store with the answers to its writer.
 *
 *  LJU1 acked ⊆ state: every acknowledged write is stored with the written value
 *  LJU2 definitely failed ∩ state = ∅
 *  LJU3 a write of unknown outcome is stored or not, as a whole if it was atomic, and does not change once it was read
 *  LJU4 a counter is at least the acknowledged increments and at most those and the unknown ones, and no two
 *       acknowledged increments had the same answer
 */
import { type Effect, type EffectOutcome, expanded, type LedgerOperation } from './ledger-operations.js';

export type State = ReadonlyMap<string, string | null>;

/** The counter that only atomic operations change, so that its exact value is known. */
export const ATOMIC_COUNTER = 'counter:atomic';

/** The number of reported violations, enough to show a pattern. */
const MAX_VIOLATIONS = 20;

export function keysOf(operations: readonly LedgerOperation[]): string[] {
  return [...new Set(operations.flatMap(({ effects }) => effects.map(({ key }) => key)))];
}

/** @returns one line for each violation; keys that are not in `state` are not checked */
export function judge(operations: readonly LedgerOperation[], state: State): string[] {
  const violations: string[] = [];
  for (const operation of operations) judgePuts(operation, state, violations);
  judgeRegisters(operations, state, violations);
  judgeCounters(operations, state, violations);
  return violations.slice(0, MAX_VIOLATIONS);
}

function judgePuts(operation: LedgerOperation, state: State, violations: string[]): void {
  const { id, effects, isAtomic, is } = operation;
  let present = 0;
  let puts = 0;
  for (const [index, effect] of effects.entries()) {
    if (effect.type !== 'put' || !state.has(effect.key)) continue;
    const found = state.get(effect.key) as string | null;
    puts += 1;
    if (found !== null) present += 1;
    const due = statusOf(operation, index);
    if (found !== null && found !== expanded(effect.value)) {
      violations.push(`operation ${id}: ${effect.key} is ${brief(found)}, written was ${brief(effect.value)}`);
    } else if (due === 'acked' && found === null) {
      violations.push(`operation ${id}: ${effect.key} was acknowledged and is not there`);
    } else if (due === 'failed' && found !== null) {
      violations.push(`operation ${id}: ${effect.key} is there although it was refused: ${whyOf(operation)}`);
    }
  }
  if (isAtomic && is !== 'failed' && present !== 0 && present !== puts) {
    violations.push(`operation ${id}: ${present} of ${puts} writes of one transaction are there`);
  }
}

function judgeRegisters(operations: readonly LedgerOperation[], state: State, violations: string[]): void {
  const registers = new Map<string, { last: string | null; unknown: Set<string> }>();
  for (const operation of operations) {
    for (const [index, effect] of operation.effects.entries()) {
      if (effect.type !== 'register' || !state.has(effect.key)) continue;
      const register = registers.get(effect.key) ?? { last: null, unknown: new Set() };
      registers.set(effect.key, register);
      const status = statusOf(operation, index);
      if (status === 'acked') register.last = effect.value;
      else if (status === 'unknown') register.unknown.add(effect.value);
    }
  }
  for (const [key, { last, unknown }] of registers) {
    const found = state.get(key) as string | null;
    if (found === last || (found !== null && unknown.has(found))) continue;
    violations.push(`${key} is ${brief(found)}, acknowledged last was ${brief(last)}`);
  }
}

function judgeCounters(operations: readonly LedgerOperation[], state: State, violations: string[]): void {
  const counters = new Map<string, { acked: number; unknown: number; answers: Set<unknown> }>();
  for (const operation of operations) {
    for (const [index, effect] of operation.effects.entries()) {
      if (effect.type !== 'add' || !state.has(effect.key)) continue;
      const counter = counters.get(effect.key) ?? { acked: 0, unknown: 0, answers: new Set() };
      counters.set(effect.key, counter);
      const status = statusOf(operation, index);
      if (status === 'unknown' && !isSettledByItsPuts(operation, effect, state, counter)) counter.unknown += 1;
      if (status !== 'acked') continue;
      counter.acked += 1;
      const answer = resultOf(operation, index);
      if (counter.answers.has(answer)) violations.push(`${effect.key}: two increments were answered ${answer}`);
      counter.answers.add(answer);
    }
  }
  for (const [key, { acked, unknown }] of counters) {
    const found = Number(state.get(key) ?? 0);
    if (found >= acked && found <= acked + unknown) continue;
    violations.push(`${key} is ${found}: ${acked} increments were acknowledged, ${unknown} are unknown`);
  }
}

/** The puts of a transaction show whether its increment happened too. */
function isSettledByItsPuts(
  { isAtomic, effects }: LedgerOperation,
  { key }: Effect,
  state: State,
  counter: { acked: number },
): boolean {
  if (!isAtomic || key !== ATOMIC_COUNTER) return false;
  const put = effects.find(({ type }) => type === 'put');
  if (put === undefined || !state.has(put.key)) return false;
  if (state.get(put.key) !== null) counter.acked += 1;
  return true;
}

/** LJU3 over time: remembers for each write of unknown outcome whether the first reader saw it. */
export class UnknownMemory {
  readonly #seen = new Map<string, boolean>();

  get size(): number {
    return this.#seen.size;
  }

  /** @param settled operations that cannot be executed any more. @returns one line for each that changed */
  compare(settled: readonly LedgerOperation[], state: State): string[] {
    const violations: string[] = [];
    for (const operation of settled) {
      if (operation.is !== 'unknown') continue;
      for (const { type, key } of operation.effects) {
        if (type !== 'put' || !state.has(key)) continue;
        const isThere = state.get(key) !== null;
        const wasThere = this.#seen.get(key);
        this.#seen.set(key, wasThere ?? isThere);
        if (wasThere === undefined || wasThere === isThere) continue;
        const [before, now] = wasThere ? ['was there', 'is gone'] : ['was not there', 'is there now'];
        violations.push(`operation ${operation.id} of unknown outcome: ${key} ${before} and ${now}`);
      }
    }
    return violations.slice(0, MAX_VIOLATIONS);
  }
}

function statusOf(operation: LedgerOperation, index: number): 'acked' | 'failed' | 'unknown' {
  if (operation.is !== 'acked') return operation.is;
  return 'error' in (operation.outcomes[index] as EffectOutcome) ? 'failed' : 'acked';
}

function resultOf(operation: LedgerOperation, index: number): unknown {
  const outcome = operation.is === 'acked' ? operation.outcomes[index] : undefined;
  return outcome !== undefined && 'result' in outcome ? outcome.result : undefined;
}

function whyOf(operation: LedgerOperation): string {
  return operation.is === 'acked' ? JSON.stringify(operation.outcomes) : operation.why;
}

function brief(value: string | null): string {
  if (value === null) return 'nothing';
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
