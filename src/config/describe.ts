/**
 * Describes the effective configuration: each variable in the order of the schema, with masked secrets, also as text.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './schema.js';
import { MASK, Secret } from './secret.js';
import { sectionsOf, surroundingsOf } from './sections.js';

/** Words that a shell accepts without quotes. */
const PLAIN_WORD = /^[\w@%+=:,./-]*$/;

interface SettingFacts {
  readonly variable: string;
  /** As in the environment; undefined: not set, and `reason` describes the effect. */
  readonly value: string | undefined;
  /** The default would be the same. */
  readonly isDefault: boolean;
  /** The settings that a derived default depends on. */
  readonly reason: string | undefined;
}

export function configFacts(config: Config): SettingFacts[] {
  const surroundings = surroundingsOf(config);
  return sectionsOf(config).flatMap(({ values, settings }) =>
    settings.map(({ field, variable, kind, fallback }) => {
      const value = values[field];
      if (value === undefined) return { variable, value, isDefault: true, reason: fallback.shown };
      const isDefault = isDeepStrictEqual(value, fallback.valueFor(surroundings));
      const reason = (isDefault && fallback.because?.(surroundings)) || undefined;
      return { variable, value: value instanceof Secret ? MASK : kind.write(value), isDefault, reason };
    }),
  );
}

/**
 * `VARIABLE=value` lines that a shell can read, except for masked values. `# default` marks a value equal to its
 * default, with the reason of a derived one; a variable without a value is a comment.
 */
export function describeConfig(config: Config): string {
  const lines = configFacts(config).map(({ variable, value, isDefault, reason }) => {
    if (value === undefined) return `# ${variable}=  # ${reason}`;
    const remark = isDefault ? `  # default${reason === undefined ? '' : `: ${reason}`}` : '';
    return `${variable}=${value === MASK ? MASK : quoted(value)}${remark}`;
  });
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
