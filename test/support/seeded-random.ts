/** A seeded random number generator (mulberry32), good enough to choose faults. */
export interface SeededRandom {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return { next, below, pick: (choices) => choices[below(choices.length)] as (typeof choices)[number] };
}

/** The seed of this run: 1 unless the environment sets another; `random` chooses a new one. */
export function seedOfThisRun(): number {
  const given = process.env.CHAOS_SEED || '1';
  return given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

/** The line about the seed that a test prints before it starts. */
export function replayLine(seed: number, file: string): string {
  return `      seed ${seed}; replay: CHAOS_SEED=${seed} npx mocha --timeout 540000 dist/test/chaos/${file}.test.js`;
}
