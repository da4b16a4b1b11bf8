/**
 * The settings of a call, from its configuration headers and query keys: of a publish, of a publish to a group with
 * defaults, and of a retry that changes some of a message's. A call is read whole before anything of it is accepted.
 */
import type { DeliverySettings, HeaderList, RawSettings } from '../records.js';
import { collectOptions } from './setting-options.js';
import { plainSettings, type SettingsContext, type SettingsOutcome, SettingsReader } from './settings-reader.js';

export type { ParsedSettings, SettingsContext, SettingsOutcome } from './settings-reader.js';

/** It holds for a message of a call that does not say. */
const DEFAULT_RETRIES = 3;
const NO_HEADER: HeaderList = [];

/** Reads a call's configuration. Names are lower-case and neutral already. */
export function parseSettings(raw: RawSettings, context: SettingsContext): SettingsOutcome {
  const base = plainSettings(Math.min(DEFAULT_RETRIES, context.limits.maxRetries), NO_HEADER);
  return new SettingsReader(collectOptions(raw), context).read(base);
}

/**
 * The settings with only that changed which the overrides name. Forwarded headers replace those of their names. What
 * a request says of its own body, Content-Type, counts for nothing: the message keeps its body.
 */
export function overrideSettings(
  settings: DeliverySettings,
  overrides: RawSettings,
  context: SettingsContext,
): SettingsOutcome {
  const collected = collectOptions(overrides);
  return new SettingsReader({ ...collected, contentType: undefined, others: NO_HEADER }, context).read(settings);
}

/** A group's defaults under a call: a default counts when the call names it neither in a header nor in its query. */
export function withDefaults(defaults: HeaderList, raw: RawSettings): RawSettings {
  if (defaults.length === 0) return raw;
  const named = new Set(
    [...raw.headers, ...raw.query].filter(([, value]) => value.trim() !== '').map(([name]) => name),
  );
  // The instant would win over the delay, but the call wins over the default.
  if (named.has('svc-delay')) named.add('svc-not-before');
  return { headers: [...raw.headers, ...defaults.filter(([name]) => !named.has(name))], query: raw.query };
}
