/** Loading what was kept of a partition, beside the requests of a process. */

import { type KeptObjects, loadKept } from '../../journal/backup/index.js';
import type { Clock, Timers } from '../../ports/index.js';
import { Breathing } from '../runtime/index.js';
import type { LoadKept } from './replacements.js';

export function keptLoader({ clock, timers, ...kept }: KeptObjects & { clock: Clock; timers: Timers }): LoadKept {
  return async (manifest, fold, maxBytes) => {
    const breathing = new Breathing(clock, timers);
    const breathe = async () => {
      if (breathing.isDue) await breathing.take();
    };
    return loadKept(kept, manifest, fold, maxBytes, breathe);
  };
}
