/**
 * Bugs made on purpose, to show that a test turns red when a promise is broken. Off unless a test says
 * so; `serve` never turns one on. Each name is a promise of the single-writer protocol, broken.
 */
export const DELIBERATE_BUGS = [
  /** Replies leave before their entry is stored. */
  'reply-before-ack',
  /** A refused append is taken for a stored one. */
  'ignore-conflict',
  /** An overtaken owner reads the new tail and appends on top of it. */
  'reread-tail-when-fenced',
  /** A new owner does not append its claim. */
  'skip-claim',
  /** A new owner answers before it has replayed everything up to its claim. */
  'serve-before-replay-ends',
  /** An unanswered append is reported as not applied. */
  'unknown-as-failure',
  /** An unanswered append is reported as stored. */
  'unknown-as-success',
  /** A read of an uncommitted write is answered at once. */
  'speculative-read-released-early',
  /** An owner executes what was meant for the one before it, and what has waited for too long. */
  'executed-past-its-deadline',
] as const;

/** The same for promises of the queue. */
export const DELIBERATE_QUEUE_BUGS = [
  /** A call is made while its start is on its way to the journal. */
  'call-before-entry',
  /** An attempt that is made again after a crash is not counted. */
  'restart-not-counted',
  /** The last event of a turn goes into the next entry: an outcome parts from the DLQ entry that follows from it. */
  'turn-in-two-entries',
  /** A message that was accepted is accepted again. */
  'forget-accepted-ids',
  /** A successor does not look for messages that are not due yet. */
  'timers-in-memory',
  /** An owner that has ended goes on with its calls. */
  'calls-outlive-their-owner',
  /** A place in a queue becomes free while callbacks of its message are under way. */
  'place-freed-early',
  /** A step's record is appended although the run has it. */
  'step-appended-twice',
  /** A step goes on waiting after it was notified: its deadline ends it once more. */
  'wait-outlives-its-notify',
] as const;

export type DeliberateBug = (typeof DELIBERATE_BUGS)[number] | (typeof DELIBERATE_QUEUE_BUGS)[number];

let active: DeliberateBug | undefined;

export function isBugOn(bug: DeliberateBug): boolean {
  return active === bug;
}

/** For tests alone. Returns what turns it off again. */
export function turnOnBug(bug: DeliberateBug): () => void {
  active = bug;
  return () => {
    active = undefined;
  };
}
