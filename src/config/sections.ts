/** Iterates over a configuration: its sections with their declared settings. */
import type { Surroundings } from './default.js';
import { isLoopback } from './defaults.js';
import { Config } from './schema.js';
import { type SettingSpec, settingsOf } from './setting.js';

export interface SettingSection {
  /** The field of `Config`. */
  readonly name: string;
  /** Values by field. */
  readonly values: Record<string, unknown>;
  readonly settings: readonly SettingSpec[];
}

export function sectionsOf(config: Config): readonly SettingSection[] {
  return Object.entries(config).map(([name, values]) => ({
    name,
    values: values as Record<string, unknown>,
    settings: settingsOf(values.constructor as new () => object),
  }));
}

/** All settings, in the order of the schema. */
export const SETTINGS: readonly SettingSpec[] = sectionsOf(new Config()).flatMap(({ settings }) => settings);

export function surroundingsOf(config: Config): Surroundings {
  const { endpoints, storage, isEmbedded, sharedBy } = config;
  return { host: endpoints.host, dataDir: storage.dataDir, isEmbedded, sharedBy, exposedBy: exposedBy(endpoints) };
}

/** The first setting that shows that other machines connect to this process. */
function exposedBy({ host, publicUrlKv, publicUrlQueue, publicUrlMgmt, trustedProxies }: Config['endpoints']) {
  const signs = Object.entries({
    MILLRACE_HOST: !isLoopback(host),
    MILLRACE_PUBLIC_URL_KV: publicUrlKv !== undefined,
    MILLRACE_PUBLIC_URL_QUEUE: publicUrlQueue !== undefined,
    MILLRACE_PUBLIC_URL_MGMT: publicUrlMgmt !== undefined,
    MILLRACE_TRUSTED_PROXIES: trustedProxies.length > 0,
  });
  return signs.find(([, isSign]) => isSign)?.[0];
}
