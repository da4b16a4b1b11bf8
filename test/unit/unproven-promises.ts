/** Promises that no test cites, and why none can. */

const INNER = 'It is about how its file works within; from outside only what follows from it can be seen.';
const MEMORY =
  'It bounds memory or time, which the benchmarks measure: a test would be of the machine that it runs on.';
const RARE = 'What it forbids is a rare order of events, which no test makes happen on purpose.';

/** Number → reason. */
export const UNPROVEN: Readonly<Record<string, string>> = {
  // Memory and time.
  AID2: MEMORY,
  AS3: MEMORY,
  BSE4: MEMORY,
  CMP1: MEMORY,
  DST2: MEMORY,
  FB3: MEMORY,
  KSC3: MEMORY,
  ME1: MEMORY,
  SM1: MEMORY,

  // How a file works within.
  AUW1: INNER,
  DI1: INNER,
  DI3: INNER,
  LUM3: INNER,
  PRO1: INNER,
  SFO1: INNER,

  // Rare orders of events.
};
