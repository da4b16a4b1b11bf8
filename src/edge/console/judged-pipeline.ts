/**
 * What a pipeline of the console does: which rights it needs, and what of it the audit log has to name.
 *
 *  JPI1 what needs more than the read-only token and is no change goes on as it was judged, written anew, not as it came: no
 *       reader can find another command in it
 */
import { findCommand, readOnlyPermissions } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { MAX_NOTED_COMMANDS } from './console-limits.js';

export interface JudgedPipeline {
  readonly token: 'read-only' | 'standard';
  /** Undefined: nothing is changed. */
  readonly changes: { readonly commands: string; readonly key: string } | undefined;
  readonly body: Buffer;
}

type Kind = 'read' | 'look' | 'change';

/** @param body a list of commands. What is none is refused where it goes */
export function judgedPipeline(body: Buffer): JudgedPipeline {
  const commands = commandsIn(body);
  const judged = commands.map((words) => ({ words, kind: kindOf(words) }));
  const changes = judged.filter(({ kind }) => kind === 'change').map(({ words }) => words);
  if (changes.length > 0) return { token: 'standard', changes: noted(changes), body };
  if (judged.every(({ kind }) => kind === 'read')) return { token: 'read-only', changes: undefined, body };
  return { token: 'standard', changes: undefined, body: Buffer.from(JSON.stringify(commands)) };
}

/** Names, each once, and the first key. */
function noted(changes: readonly (readonly unknown[])[]) {
  const names = [...new Set(changes.map(([name]) => String(name).toUpperCase()))];
  const left = names.length - MAX_NOTED_COMMANDS;
  const shown = names.slice(0, MAX_NOTED_COMMANDS).join(', ');
  return { commands: left > 0 ? `${shown} and ${left} more` : shown, key: String(changes[0]?.[1] ?? '') };
}

/** What nobody knows is told so, whatever opens it. */
function kindOf(words: readonly unknown[]): Kind {
  const texts = words.map((word) => String(word) as ByteString);
  const spec = findCommand(texts);
  if (spec === undefined || readOnlyPermissions().refusal(spec, texts) === undefined) return 'read';
  return spec.flags.includes('readonly') || spec.isLook === true ? 'look' : 'change';
}

function commandsIn(body: Buffer): readonly (readonly unknown[])[] {
  try {
    const given: unknown = JSON.parse(body.toString('utf8'));
    return Array.isArray(given) ? given.filter((command) => Array.isArray(command) && command.length > 0) : [];
  } catch {
    return [];
  }
}
