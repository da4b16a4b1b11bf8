export { decodeControlCommand, decodeControlReply, encodeControlCommand, encodeControlReply } from './command-codec.js';
export { decodeControlEvents, encodeControlEvent } from './event-codec.js';
export { decodeMeterRecord, encodeMeterRecord } from './meter-codec.js';
export { decodeControlApplied, encodeControlApplied } from './notice-codec.js';
