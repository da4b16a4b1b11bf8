/** What a process says when it has applied a change of who may do what. */
import type { SessionId } from '../kernel/index.js';
import { integer, openFields, type TypeOf, text } from '../kernel/schema/index.js';

export const controlApplied = openFields({
  session: text<SessionId>(),
  /** In the control journal: everything up to it is in force at this process. */
  position: integer,
});
export type ControlApplied = TypeOf<typeof controlApplied>;
