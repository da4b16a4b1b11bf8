/** Parts of a plane without subscribers and without rebuilds, for tests of its commands. */
import type { KvPlanePorts } from '../../src/actors/kv-shard/index.js';

export const NO_LISTENERS: Pick<KvPlanePorts, 'activation' | 'permissionsOf' | 'deliver' | 'history'> = {
  activation: 'test',
  permissionsOf: (user) => ({ user, refusal: () => undefined, mayReach: () => true, keyPatterns: ['~*'] }),
  deliver: () => {},
  history: () => {
    throw new Error('this plane has no rebuilds');
  },
};
