/**
 * Reads the environment into one validated, frozen `Config`, or fails with a single line that names the error.
 *
 *  LD1 only the given record and the places that its secrets name are read: no other file, no clock, no `process.env`
 *  LD2 an error names one variable and the values that it accepts, and shows no secret
 *  LD3 an empty variable counts as not set, because compose files set variables to empty texts
 */
import { validateSync } from 'class-validator';
import { describeError, MillraceError } from '../kernel/index.js';
import { firstConflict } from './cross-checks.js';
import { Config } from './schema.js';
import { Secret } from './secret.js';
import { referenceIn, type SecretSource } from './secret-reference.js';
import { SETTINGS, sectionsOf, surroundingsOf } from './sections.js';
import type { SettingSpec } from './setting.js';
import { warningsFor } from './warnings.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadedConfig {
  readonly config: Config;
  /** One line each, logged once. */
  readonly warnings: readonly string[];
}

/** Longer values are cut in an error, to keep the line readable. */
const SHOWN_CHARACTERS = 60;

/**
 * @param source  reads secrets that are stored elsewhere; without it they stay references, and are not checked
 * @throws BAD_CONFIG with one line that names the variable and the values that it accepts
 */
export function loadConfig(environment: Environment, source?: SecretSource): LoadedConfig {
  const config = new Config();
  readGiven(config, environment, source);
  fillDefaults(config);
  refuseWhatIsInvalid(config, environment);
  const conflict = firstConflict(config);
  if (conflict) throw new MillraceError('BAD_CONFIG', conflict, { variable: conflict.split(' ')[0] });
  const warnings = warningsFor(config, environment, SETTINGS);
  return { config: freezeDeep(config), warnings };
}

function readGiven(config: Config, environment: Environment, source: SecretSource | undefined): void {
  for (const { values, settings } of sectionsOf(config)) {
    for (const spec of settings) {
      const text = environment[spec.variable];
      if (text !== undefined && text !== '') values[spec.field] = readValue(spec, text, source);
    }
  }
}

function readValue({ variable, kind }: SettingSpec, text: string, source: SecretSource | undefined): unknown {
  const reference = kind.isSecret ? referenceIn(text) : undefined;
  if (reference === undefined) return kind.read(text);
  if (source === undefined) return new Secret(text, true);
  try {
    return kind.read(source(reference));
  } catch (error) {
    const reason = `${variable} names a secret that cannot be read: ${describeError(error)}`;
    throw new MillraceError('BAD_CONFIG', reason, { variable });
  }
}

/** Two passes over the sections, because derived defaults depend on plain ones. */
function fillDefaults(config: Config): void {
  const nothing = { host: '', dataDir: '', isEmbedded: true, sharedBy: 1, exposedBy: undefined };
  for (const surroundings of [undefined, () => surroundingsOf(config)]) {
    for (const { values, settings } of sectionsOf(config)) {
      for (const { field, fallback } of settings) {
        const isDerived = fallback.shown !== undefined;
        if (values[field] !== undefined || isDerived !== (surroundings !== undefined)) continue;
        values[field] = fallback.valueFor(surroundings?.() ?? nothing);
      }
    }
  }
}

function refuseWhatIsInvalid(config: Config, environment: Environment): void {
  for (const { values, settings } of sectionsOf(config)) {
    const refused = new Set(validateSync(values).map(({ property }) => property));
    const first = settings.find(({ field }) => refused.has(field));
    if (first) throw badValue(first, environment[first.variable] ?? '');
  }
}

function badValue({ variable, kind }: SettingSpec, text: string): MillraceError {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  // JSON quotes also prevent a line feed in the value from breaking the line.
  const got = kind.hidesText ? '' : `, not ${JSON.stringify(shown)}`;
  return new MillraceError('BAD_CONFIG', `${variable} accepts ${kind.accepts}${got}`, { variable });
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) freezeDeep(inner);
  return Object.freeze(value);
}
