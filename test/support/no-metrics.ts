/** Metrics of the runtime for tests that do not read them. */
import type { RuntimeMetrics } from '../../src/actors/runtime/index.js';

export const NO_METRICS: RuntimeMetrics = {
  entryStored: () => {},
  appendUnknown: () => {},
  mailboxFull: () => {},
  takeover: () => {},
  drained: () => {},
  replayed: () => {},
  refused: () => {},
  snapshotted: () => {},
};
