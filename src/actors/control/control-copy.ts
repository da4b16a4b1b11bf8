/** A copy of the control state for a command: made now or not at all, because a person waits for it. */
import { inDoubt, mustBeWhole, type VouchedPorts } from '../../journal/index.js';
import { MillraceError } from '../../kernel/index.js';
import { CONTROL_SHARD } from '../../messages/index.js';
import type { Timers } from '../../ports/index.js';
import type { ControlView } from './control-view.js';

/** A copy of the control state that makes no progress for so long is not coming: as long as a read of a journal waits. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 50;

/** Starts the view. @throws JOURNAL_DAMAGED, JOURNAL_UNAVAILABLE when the copy cannot be made */
export async function copyControl(view: ControlView, ports: VouchedPorts & { readonly timers: Timers }): Promise<void> {
  await mustBeWhole(ports, CONTROL_SHARD);
  let isCopied = false;
  const copied = view.start().then(() => {
    isCopied = true;
  });
  let position = view.position;
  for (let waitedMs = 0; !isCopied; waitedMs += LOOK_MS) {
    if (view.position !== position) waitedMs = 0;
    position = view.position;
    if (view.damage !== undefined) throw inDoubt(view.damage);
    if (waitedMs >= PATIENCE_MS) {
      const why = `${CONTROL_SHARD}: nothing behind position ${position} arrives`;
      throw new MillraceError('JOURNAL_UNAVAILABLE', `${why}: look at its stream on the NATS server`);
    }
    await Promise.race([copied, ports.timers.pause(LOOK_MS)]);
  }
}
