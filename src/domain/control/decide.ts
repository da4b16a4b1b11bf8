/**
 * Judges a command for databases, tokens, limits and quotas. Pure: time, ids, hashes and sealed texts
 * come in, events and an answer come out; the state is not touched.
 */
import { rowOfControl } from './command-table.js';
import type { ControlCommand } from './commands.js';
import type { Decision } from './decision.js';
import type { ControlState } from './state.js';

export interface DecisionContext {
  /** The clock of the turn: never before that of the last entry. */
  readonly nowMs: number;
}

export function decide(command: ControlCommand, state: ControlState, { nowMs }: DecisionContext): Decision {
  return rowOfControl(command).decide(command, state, nowMs);
}
