/** Parameters that have a meaning here, with Redis's names and defaults. */
import type { ByteString } from '../../kernel/index.js';

export const PARAMETER_DEFAULTS: ReadonlyMap<string, ByteString> = new Map([
  ['notify-keyspace-events', ''],
  ['hash-max-listpack-entries', '128'],
  ['hash-max-listpack-value', '64'],
  ['set-max-intset-entries', '512'],
  ['set-max-listpack-entries', '128'],
  ['set-max-listpack-value', '64'],
  ['zset-max-listpack-entries', '128'],
  ['zset-max-listpack-value', '64'],
  ['list-max-listpack-size', '-2'],
  ['stream-node-max-bytes', '4096'],
  ['stream-node-max-entries', '100'],
  ['hll-sparse-max-bytes', '3000'],
]);
