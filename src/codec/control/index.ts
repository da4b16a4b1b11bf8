export {
  decodeControlApplied,
  decodeControlCommand,
  decodeControlEvents,
  decodeControlReply,
  decodeMeterRecord,
  encodeControlApplied,
  encodeControlCommand,
  encodeControlEvent,
  encodeControlReply,
  encodeMeterRecord,
} from './control-codec.js';
