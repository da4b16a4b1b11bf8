/**
 * Reads the environment into one validated, frozen `Config`, or fails with a single line that names the error.
 *
 *  LD1 only the given record is read: no file, no clock, no `process.env`
 *  LD2 an error names one variable and the values that it accepts, and shows no secret
 *  LD3 an empty variable counts as not set, because compose files set variables to empty texts
 */
import { validateSync } from 'class-validator';
import { MillraceError } from '../kernel/index.js';
import { firstConflict } from './cross-checks.js';
import { Config } from './schema.js';
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

/** @throws BAD_CONFIG with one line that names the variable and the values that it accepts */
export function loadConfig(environment: Environment): LoadedConfig {
  const config = new Config();
  readGiven(config, environment);
  fillDefaults(config);
  refuseWhatIsInvalid(config, environment);
  const conflict = firstConflict(config);
  if (conflict) throw new MillraceError('BAD_CONFIG', conflict, { variable: conflict.split(' ')[0] });
  const warnings = warningsFor(config, environment, SETTINGS);
  return { config: freezeDeep(config), warnings };
}

function readGiven(config: Config, environment: Environment): void {
  for (const { values, settings } of sectionsOf(config)) {
    for (const { field, variable, kind } of settings) {
      const text = environment[variable];
      if (text !== undefined && text !== '') values[field] = kind.read(text);
    }
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
