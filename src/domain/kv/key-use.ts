/** What a command does with each of its keys, in Redis's words: its row says so, or it follows from the access. */
import type { ByteString } from '../../kernel/index.js';
import type { AccessedKey, CommandSpec, KeyAccess } from './command-spec.js';

export const DEFAULT_KEY_USE: Readonly<Record<KeyAccess, string>> = {
  read: 'RO access',
  both: 'RW update',
  write: 'OW update',
};

/** `RW access update` … */
export function keyUseOf({ keys, keyUse }: CommandSpec, { part, access }: AccessedKey): string {
  return (keys.kind === 'found' ? undefined : keyUse?.[part]) ?? DEFAULT_KEY_USE[access];
}

/** Is the option among the words from there on? */
export function hasOption(words: readonly ByteString[], from: number, option: string): boolean {
  return words.some((word, index) => index >= from && word.toUpperCase() === option);
}
