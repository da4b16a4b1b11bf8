/** Makes a copy of the control state for a command line command. It gives up early, because a person waits for it. */
import { type CompletenessPorts, requireComplete, withRemedy } from '../../journal/index.js';
import { MillraceError } from '../../kernel/index.js';
import type { Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import type { ControlView } from './control-view.js';

/** A copy without progress for this long will not complete; a read of a journal waits as long. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

/** Starts the view. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE when the copy cannot be made */
export async function copyControl(
  view: ControlView,
  ports: CompletenessPorts & { readonly timers: Timers },
): Promise<void> {
  await requireComplete(ports, CONTROL_SHARD);
  let isCopied = false;
  const copied = view.start().then(() => {
    isCopied = true;
  });
  let position = view.position;
  for (let waitedMs = 0; !isCopied; waitedMs += LOOK_MS) {
    if (view.position !== position) waitedMs = 0;
    position = view.position;
    if (view.damage !== undefined) throw withRemedy(view.damage);
    if (waitedMs >= PATIENCE_MS) {
      const reason = `${CONTROL_SHARD}: no entry after position ${position} arrives`;
      throw new MillraceError('JOURNAL_UNAVAILABLE', `${reason}: look at its stream on the NATS server`);
    }
    await Promise.race([copied, ports.timers.pause(LOOK_MS)]);
  }
}
