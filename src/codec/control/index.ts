export {
  decodeControlApplied,
  decodeControlCommand,
  decodeControlReply,
  encodeControlApplied,
  encodeControlCommand,
  encodeControlReply,
} from './command-codec.js';
export { decodeControlEvents, encodeControlEvent } from './event-codec.js';
export { decodeMeterRecord, encodeMeterRecord } from './meter-codec.js';
