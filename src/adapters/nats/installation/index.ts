/** Opening an installation: for a process that serves, or for a command. */
export { AwaitedStart } from './awaited-start.js';
export { dataKeyOf, refuseUnfitKey, sealingOf } from './data-key.js';
export { type JournalTotal, journalTotalOf } from './journal-total.js';
export { NatsOpening } from './nats-opening.js';
export { natsOptionsOf } from './nats-options.js';
export { writeNatsUsers } from './nats-users.js';
export { openForCommand, openNats } from './open-nats.js';
export { LAYOUT_MARK, type OpenedNats, watchedNats } from './opened-nats.js';
