/** What events do to flow-control keys, and who has to hear of it. */
import type { AccountParts } from '../accounts/account-parts.js';
import type { QueueEventOf } from '../events.js';

export function flowPaused(event: QueueEventOf<'FlowPaused'>, { flows, dispatch }: AccountParts): void {
  flows.setPaused(event);
  dispatch?.flowChanged(event.key);
}

export function flowPinned(event: QueueEventOf<'FlowPinned'>, { flows, dispatch }: AccountParts): void {
  flows.pin(event);
  dispatch?.flowChanged(event.key);
}

export function flowUnpinned(event: QueueEventOf<'FlowUnpinned'>, { flows, dispatch }: AccountParts): void {
  flows.unpin(event);
  dispatch?.flowChanged(event.key);
}

/** When `all` is asked for, what is under way holds no token of the key any more. */
export function flowReset(event: QueueEventOf<'FlowReset'>, { messages, flows, dispatch }: AccountParts): void {
  if (event.all) {
    for (const message of messages.active) {
      if (message.shared.envelope.settings.flowControl?.key === event.key) message.hasToken = false;
    }
  }
  flows.reset(event);
  dispatch?.flowChanged(event.key);
}
