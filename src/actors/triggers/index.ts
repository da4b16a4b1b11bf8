export { LaneQueueSweep } from './lane-queue-sweep.js';
export { relayPlaces } from './layout-parts.js';
export { TriggerDesk } from './trigger-desk.js';
export { placeOf, sequenceAfter } from './trigger-position.js';
export { TriggerRelay } from './trigger-relay.js';
export { TriggerRelays } from './trigger-relays.js';
