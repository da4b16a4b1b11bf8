/** Applies what happened to the control state, in place. Total over everything ever journaled; never judges. */
import { rowOfControlEvent } from './event-table.js';
import type { ControlEvent } from './events.js';
import type { ControlState } from './state.js';

export function evolve(state: ControlState, event: ControlEvent): void {
  rowOfControlEvent(event).evolve(event, state);
}
