/** Values of modules in Redis's RDB format: the ids of their types, and the codes in front of their fields. */

export const MODULE_UNSIGNED = 2;
export const MODULE_STRING = 5;
export const MODULE_END = 0;

/** The name of a module's type, six bits per letter, followed by ten bits for the format version. */
export function moduleId(name: string, version: number): bigint {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  let id = 0n;
  for (const letter of name) id = (id << 6n) | BigInt(letters.indexOf(letter));
  return (id << 10n) | BigInt(version);
}
