/** Promises that no test cites, with the reason. */

/** Number → reason. */
export const UNPROVEN: Readonly<Record<string, string>> = {
  DI1: 'Each message has one field for where it waits, so two places are not to be told from one; the lines are private.',
  DI3: 'It says what a change costs, and lanes that are woken needlessly start the same messages in the same order.',
  LUM3: 'A pointer used too late reads wrong bytes only where the heap was moved in between, which no script can arrange.',
  SM1: 'How much one transaction folds depends on what arrives within a second of real time; what is counted is the same.',
};
