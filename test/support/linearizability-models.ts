/** Models of one key with a single client, for checks of histories. */
import type { Model } from './linearizability.js';

export type RegisterInput =
  | { readonly type: 'get' }
  | { readonly type: 'set'; readonly value: string }
  | { readonly type: 'del' }
  /** `SET key value IFEQ expected`. */
  | { readonly type: 'cas'; readonly expected: string; readonly value: string };

/** get: the value or null · set: OK · del: the number of deleted keys · cas: OK or null. */
export type RegisterOutput = string | number | null;

export const registerModel: Model<string | null, RegisterInput, RegisterOutput> = {
  initial: null,
  step(state, input, output) {
    switch (input.type) {
      case 'get':
        return answered(output, state, state);
      case 'set':
        return answered(output, 'OK', input.value);
      case 'del':
        return answered(output, state === null ? 0 : 1, null);
      case 'cas':
        return state === input.expected ? answered(output, 'OK', input.value) : answered(output, null, state);
    }
  },
  fingerprint: (state) => (state === null ? 'nothing' : `=${state}`),
};

export type CounterInput = { readonly type: 'get' } | { readonly type: 'incrby'; readonly by: number };

/** get: the decimal text or null · incrby: the resulting value. */
export type CounterOutput = string | number | null;

export const counterModel: Model<number | null, CounterInput, CounterOutput> = {
  initial: null,
  step(state, input, output) {
    switch (input.type) {
      case 'get':
        return answered(output, state === null ? null : String(state), state);
      case 'incrby':
        return answered(output, (state ?? 0) + input.by, (state ?? 0) + input.by);
    }
  },
  fingerprint: (state) => String(state),
};

export type ListInput =
  | { readonly type: 'push'; readonly value: string }
  | { readonly type: 'pop' }
  | { readonly type: 'length' };

/** push and length: the number of elements · pop: the first element or null. */
export type ListOutput = string | number | null;

/** A list with pushes at the end and pops at the front. */
export const listModel: Model<readonly string[], ListInput, ListOutput> = {
  initial: [],
  step(state, input, output) {
    switch (input.type) {
      case 'push':
        return answered(output, state.length + 1, [...state, input.value]);
      case 'pop':
        return answered(output, state[0] ?? null, state.slice(1));
      case 'length':
        return answered(output, state.length, state);
    }
  },
  fingerprint: (state) => state.join(' '),
};

function answered<State, Output>(output: Output | undefined, due: Output, state: State): { state: State } | undefined {
  return output === undefined || output === due ? { state } : undefined;
}
