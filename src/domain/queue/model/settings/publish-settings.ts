/**
 * The settings of a call from its configuration headers and query: of a publish, of a publish to a group with
 * defaults, and of a retry that changes some settings. A call is parsed as a whole before any message is accepted.
 */
import type { DeliverySettings, HeaderList, RawSettings } from '../records.js';
import { collectOptions } from './setting-options.js';
import { plainSettings, type SettingsContext, type SettingsOutcome, SettingsReader } from './settings-reader.js';

export type { ParsedSettings, SettingsContext, SettingsOutcome } from './settings-reader.js';

/** Retries of a message without the option. */
const DEFAULT_RETRIES = 3;
const NO_HEADER: HeaderList = [];

/** Parses the configuration of a call. Names are already lower-case and neutral. */
export function parseSettings(raw: RawSettings, context: SettingsContext): SettingsOutcome {
  const base = plainSettings(Math.min(DEFAULT_RETRIES, context.limits.maxRetries), NO_HEADER);
  return new SettingsReader(collectOptions(raw), context).read(base);
}

/**
 * Applies overrides to existing settings. A forwarded header replaces those of its name. Content-Type and
 * Content-Encoding of the request are ignored, because the message keeps its body.
 */
export function overrideSettings(
  settings: DeliverySettings,
  overrides: RawSettings,
  context: SettingsContext,
): SettingsOutcome {
  const collected = collectOptions(overrides);
  const ofSettings = { ...collected, contentType: undefined, contentEncoding: undefined, others: NO_HEADER };
  return new SettingsReader(ofSettings, context).read(settings);
}

/**
 * A group's defaults under the configuration of a call: a default counts when the call names the option neither in a
 * header nor in its query.
 */
export function withDefaults(defaults: HeaderList, raw: RawSettings): RawSettings {
  if (defaults.length === 0) return raw;
  const named = new Set(
    [...raw.headers, ...raw.query].filter(([, value]) => value.trim() !== '').map(([name]) => name),
  );
  // An instant would win over a delay, but the call wins over the default.
  if (named.has('svc-delay')) named.add('svc-not-before');
  return { headers: [...raw.headers, ...defaults.filter(([name]) => !named.has(name))], query: raw.query };
}
