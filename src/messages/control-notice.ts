/** What a process says when it has applied a change of who may do what. */
import type { SessionId } from '../kernel/index.js';

export interface ControlApplied {
  readonly session: SessionId;
  /** In the control journal: everything up to it is in force at this process. */
  readonly position: number;
}
