/**
 * The one fault that breaks the promise of the journal: its end is lost, acknowledged or not, as after a power failure
 * without sync. The entries cannot be restored; the process must detect the loss.
 *
 * The clients pause before the loss, therefore the leases have recorded the end of the journal. A loss of entries that
 * no lease has recorded yet (those of the last second) cannot be detected.
 */
import { checkGateways, checkHistories } from './history-checks.js';
import type { SimulatedInstallation } from './simulated-installation.js';
import { Violation } from './violation.js';

const WRITING_MS = 5000;
/** Several intervals in which leases record the end of the journal. */
const RESTING_MS = 6000;
const NOTICING_MS = 30_000;

/** @throws Violation if a shard that lost its end continues without an alarm */
export async function loseTail(
  world: SimulatedInstallation,
  lostMessages: number,
  whoLives: 'owners live' | 'owners crash',
): Promise<void> {
  world.startNodes();
  world.startClients();
  await world.pass(WRITING_MS);
  world.stopClients();
  await world.pass(RESTING_MS);
  const [shard] = world.shards;
  if (shard === undefined) throw new Error('a world without shards');
  world.kit.server.loseTail(shard, lostMessages);
  if (whoLives === 'owners crash') for (const node of [...world.nodes]) world.crash(node);
  await world.pass(RESTING_MS);
  world.startClients();
  await world.pass(NOTICING_MS);
  world.stopClients();
  await world.pass(RESTING_MS);
  checkGateways(world.history);
  checkHistories(world.history, world.places);
  if (!world.nodes.some((node) => node.stoppedShards().includes(shard))) {
    throw new Violation('a journal that lost its end is noticed', `${shard} lost ${lostMessages} and was not stopped`);
  }
}
