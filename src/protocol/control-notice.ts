/** A process's report that it has applied a change of grants. */
import type { SessionId } from '../kernel/index.js';
import { integer, openFields, type TypeOf, text } from '../kernel/schema/index.js';

export const controlApplied = openFields({
  session: text<SessionId>(),
  /** The position in the control journal up to which everything is in force at this process. */
  position: integer,
});
export type ControlApplied = TypeOf<typeof controlApplied>;
