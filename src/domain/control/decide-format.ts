/**
 * The level of stored forms (`kernel/format-level.ts`). It is journaled, so that a replay knows from which point
 * newer forms may occur, and it is never lowered. A writer of a newer form checks the state's level first.
 */
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_AUDIT_TEXT } from './limits.js';
import type { ControlState } from './state.js';

/** A level that was already reached changes no state. */
export function decideRaiseFormat(
  { level, by }: ControlCommandOf<'RaiseFormat'>,
  { format }: ControlState,
  atMs: number,
): Decision {
  const { level: reached } = format ?? { level: FIRST_FORMAT_LEVEL };
  if (!Number.isSafeInteger(level) || level > FORMAT_LEVEL) {
    return rejected('BAD_VALUE', `the owner of the control shard reads up to format level ${FORMAT_LEVEL}`);
  }
  if (level <= reached) return decided({ type: 'FormatIs', level: reached });
  return decided({ type: 'FormatIs', level }, { type: 'FormatRaised', level, by: by.slice(0, MAX_AUDIT_TEXT), atMs });
}
