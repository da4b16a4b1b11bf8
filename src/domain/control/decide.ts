/**
 * Decides a command of the control state. Pure: time, ids, hashes and sealed texts are arguments, and the result is
 * an answer with events; the state is not changed.
 */
import { rowOfControl } from './command-table.js';
import type { ControlCommand } from './commands.js';
import type { Decision } from './decision.js';
import type { ControlState } from './state.js';

export interface DecisionContext {
  /** The clock of the turn, never earlier than that of the last entry. */
  readonly nowMs: number;
}

export function decide(command: ControlCommand, state: ControlState, { nowMs }: DecisionContext): Decision {
  return rowOfControl(command).decide(command, state, nowMs);
}
