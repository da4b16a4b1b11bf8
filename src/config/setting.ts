/**
 * `@setting(kind)` declares a field of a section as a setting. The field's name gives the variable (`kvPort` is
 * MILLRACE_KV_PORT), `defaults.ts` its default with the reason, the kind its parsing and its rules. Loading,
 * `millrace config` and docs/settings.md are derived from these declarations.
 */
import { ValidateIf } from 'class-validator';
import { assert } from '../kernel/index.js';
import type { Default } from './default.js';
import { DEFAULTS } from './defaults.js';
import type { SettingKind } from './kinds.js';

export const PREFIX = 'MILLRACE_';

export interface SettingSpec {
  readonly field: string;
  readonly variable: string;
  readonly kind: SettingKind;
  readonly fallback: Default;
}

const specsBySection = new Map<object, SettingSpec[]>();

export function setting(kind: SettingKind): PropertyDecorator {
  return (prototype, key) => {
    const field = String(key);
    const fallback = (DEFAULTS as Record<string, Default>)[field];
    assert(fallback, 'a setting without a row in defaults.ts', { field });
    const specs = specsBySection.get(prototype) ?? [];
    specs.push({ field, variable: variableOf(field), kind, fallback });
    specsBySection.set(prototype, specs);
    for (const rule of kind.rules) rule(prototype, key);
    // A missing value is valid if it has no default; any given value is checked.
    ValidateIf((_section, value) => value !== undefined)(prototype, key);
  };
}

/** The settings of one section's class, in source order. */
export function settingsOf(section: new () => object): readonly SettingSpec[] {
  return specsBySection.get(section.prototype) ?? [];
}

/** Variables of the fields of a section that have a value. */
export function variablesSet<Section extends object>(
  section: Section,
  ...fields: readonly (keyof Section & string)[]
): string[] {
  return fields.filter((field) => section[field] !== undefined).map(variableOf);
}

/** `natsTlsCa` → `MILLRACE_NATS_TLS_CA`. */
export function variableOf(field: string): string {
  return PREFIX + field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
