/**
 * Checks a pipeline of the console: the token that it needs, and its changes for the audit log.
 *
 *  JPI1 a pipeline that needs the standard token without changing data is forwarded in newly serialised form, so that
 *       the data plane cannot read other commands in it than were checked here
 */
import { findCommand, readOnlyPermissions } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import { MAX_NOTED_COMMANDS } from './console-limits.js';

export interface JudgedPipeline {
  readonly token: 'read-only' | 'standard';
  /** Undefined: no changes. */
  readonly changes: { readonly commands: string; readonly key: string } | undefined;
  readonly body: Buffer;
}

type Kind = 'read' | 'look' | 'change';

/** @param body a list of commands. The data plane refuses an invalid one */
export function judgedPipeline(body: Buffer): JudgedPipeline {
  const commands = commandsIn(body);
  const judged = commands.map((words) => ({ words, kind: kindOf(words) }));
  const changes = judged.filter(({ kind }) => kind === 'change').map(({ words }) => words);
  if (changes.length > 0) return { token: 'standard', changes: noted(changes), body };
  if (judged.every(({ kind }) => kind === 'read')) return { token: 'read-only', changes: undefined, body };
  return { token: 'standard', changes: undefined, body: Buffer.from(JSON.stringify(commands)) };
}

/** The names, without repetitions, and the first key. */
function noted(changes: readonly (readonly unknown[])[]) {
  const names = [...new Set(changes.map(([name]) => String(name).toUpperCase()))];
  const left = names.length - MAX_NOTED_COMMANDS;
  const shown = names.slice(0, MAX_NOTED_COMMANDS).join(', ');
  return { commands: left > 0 ? `${shown} and ${left} more` : shown, key: String(changes[0]?.[1] ?? '') };
}

/** An unknown command counts as a read: the data plane refuses it with any token. */
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
