/** Which query keys configure a message; all others of a publish belong to its destination. */
import { OPTION_NAMES } from '../../domain/queue/index.js';

const KEYS: ReadonlySet<string> = new Set(OPTION_NAMES.map((option) => `svc-${option}`));

const PREFIXES = ['svc-forward-', 'svc-callback-', 'svc-failure-callback-', 'svc-telemetry-'];

/** @param key neutral; lower case, as the interface has it */
export function isConfigurationKey(key: string): boolean {
  return KEYS.has(key) || PREFIXES.some((prefix) => key.startsWith(prefix) && key.length > prefix.length);
}
