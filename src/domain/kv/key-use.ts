/** How a command uses each of its keys, in Redis's words: as its row says, or derived from the access. */
import type { ByteString } from '../../kernel/index.js';
import type { AccessedKey, CommandDescription, KeyAccess } from './command-description.js';

export const DEFAULT_KEY_USE: Readonly<Record<KeyAccess, string>> = {
  read: 'RO access',
  both: 'RW update',
  write: 'OW update',
};

/** For example `RW access update`. */
export function keyUseOf({ keys, keyUse }: CommandDescription, { part, access }: AccessedKey): string {
  return (keys.kind === 'found' ? undefined : keyUse?.[part]) ?? DEFAULT_KEY_USE[access];
}

/** Whether the option is among the words from index `from` on. */
export function hasOption(words: readonly ByteString[], from: number, option: string): boolean {
  return words.some((word, index) => index >= from && word.toUpperCase() === option);
}
