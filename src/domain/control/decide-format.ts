/**
 * At which level things are stored (`kernel/format-level.ts`): said in the journal, so that a replay knows from where on
 * which forms may occur, and never lowered. Whatever writes a form that came with a level looks at the state's first.
 */
import { FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { type Decision, decided, rejected } from './decision.js';
import { MAX_AUDIT_TEXT } from './limits.js';
import type { ControlState } from './state.js';

/** Asked for a level that was reached already it changes nothing. */
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
