/** Walks a configuration: its sections with the settings that each declares. */
import type { Surroundings } from './defaults.js';
import { Config } from './schema.js';
import { type SettingSpec, settingsOf } from './setting.js';

export interface Section {
  /** The field of `Config`. */
  readonly name: string;
  /** Values by field. */
  readonly values: Record<string, unknown>;
  readonly settings: readonly SettingSpec[];
}

export function sectionsOf(config: Config): readonly Section[] {
  return Object.entries(config).map(([name, values]) => ({
    name,
    values: values as Record<string, unknown>,
    settings: settingsOf(values.constructor as new () => object),
  }));
}

/** Every setting there is, in the order of the schema. */
export const SETTINGS: readonly SettingSpec[] = sectionsOf(new Config()).flatMap(({ settings }) => settings);

export function surroundingsOf(config: Config): Surroundings {
  return { host: config.faces.host, dataDir: config.storage.dataDir, isEmbedded: config.isEmbedded };
}
