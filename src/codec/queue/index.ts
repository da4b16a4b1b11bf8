export {
  decodeIntakeRecord,
  decodeQueueCommand,
  encodeIntakeRecord,
  encodeQueueCommand,
  type IntakeRecord,
} from './command-codec.js';
export { decodeQueueEvents, encodeQueueEvent } from './event-codec.js';
export { decodeQueueReply, encodeQueueReply } from './reply-codec.js';
