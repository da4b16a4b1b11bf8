export { decodeControlCommand, decodeControlReply, encodeControlCommand, encodeControlReply } from './command-codec.js';
export { CONTROL_EVENT_VERSION, decodeControlEvents, encodeControlEvent } from './event-codec.js';
export { decodeMeterRecord, encodeMeterRecord } from './meter-codec.js';
export { decodeControlApplied, encodeControlApplied } from './notice-codec.js';
