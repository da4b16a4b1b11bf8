/** The effective configuration as text: a line for each variable, in the order of the schema, secrets masked. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './schema.js';
import { MASK, Secret } from './secret.js';
import { sectionsOf, surroundingsOf } from './sections.js';

/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w@%+=:,./-]*$/;

/**
 * `VARIABLE=value` lines that a shell can read back, but for the masks. `# default` follows a value
 * that the default would have given too, and why where that depends on others; a variable without a value is a comment.
 */
export function describeConfig(config: Config): string {
  const surroundings = surroundingsOf(config);
  const lines = sectionsOf(config).flatMap(({ values, settings }) =>
    settings.map(({ field, variable, kind, fallback }) => {
      const value = values[field];
      if (value === undefined) return `# ${variable}=  # ${fallback.shown}`;
      const isDefault = isDeepStrictEqual(value, fallback.valueFor(surroundings));
      const why = (isDefault && fallback.because?.(surroundings)) || undefined;
      const remark = isDefault ? `  # default${why === undefined ? '' : `: ${why}`}` : '';
      return `${variable}=${value instanceof Secret ? MASK : quoted(kind.write(value))}${remark}`;
    }),
  );
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
