/** Applies an event to the control state in place. It accepts every journaled event and judges none. */
import { rowOfControlEvent } from './event-table.js';
import type { ControlEvent } from './events.js';
import type { ControlState } from './state.js';

export function evolve(state: ControlState, event: ControlEvent): void {
  rowOfControlEvent(event).evolve(event, state);
}
