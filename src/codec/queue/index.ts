export { decodeQueueEvents, encodeQueueEvent } from './event-codec.js';
export {
  decodeIntakeRecord,
  decodeQueueCommand,
  decodeQueueReply,
  encodeIntakeRecord,
  encodeQueueCommand,
  encodeQueueReply,
  type IntakeRecord,
} from './remote-codec.js';
