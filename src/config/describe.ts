/** The effective configuration: what there is to say of each variable, in the order of the schema, secrets masked; and as text. */
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './schema.js';
import { MASK, Secret } from './secret.js';
import { sectionsOf, surroundingsOf } from './sections.js';

/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w@%+=:,./-]*$/;

interface SettingFacts {
  readonly variable: string;
  /** As the environment would have it; undefined: it has none, and `why` says what is done then. */
  readonly value: string | undefined;
  /** The default would have given the same. */
  readonly isDefault: boolean;
  /** Where the default depends on other settings: on what. */
  readonly why: string | undefined;
}

export function configFacts(config: Config): SettingFacts[] {
  const surroundings = surroundingsOf(config);
  return sectionsOf(config).flatMap(({ values, settings }) =>
    settings.map(({ field, variable, kind, fallback }) => {
      const value = values[field];
      if (value === undefined) return { variable, value, isDefault: true, why: fallback.shown };
      const isDefault = isDeepStrictEqual(value, fallback.valueFor(surroundings));
      const why = (isDefault && fallback.because?.(surroundings)) || undefined;
      return { variable, value: value instanceof Secret ? MASK : kind.write(value), isDefault, why };
    }),
  );
}

/**
 * `VARIABLE=value` lines that a shell can read back, but for the masks. `# default` follows a value
 * that the default would have given too, and why where that depends on others; a variable without a value is a comment.
 */
export function describeConfig(config: Config): string {
  const lines = configFacts(config).map(({ variable, value, isDefault, why }) => {
    if (value === undefined) return `# ${variable}=  # ${why}`;
    const remark = isDefault ? `  # default${why === undefined ? '' : `: ${why}`}` : '';
    return `${variable}=${value === MASK ? MASK : quoted(value)}${remark}`;
  });
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
