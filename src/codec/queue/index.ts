export { decodeQueueEvents, encodeQueueEvent } from './event-codec.js';
export {
  decodeIntakeRecord,
  decodeOutboxRecord,
  decodeQueueCommand,
  decodeQueueReply,
  encodeIntakeRecord,
  encodeOutboxRecord,
  encodeQueueCommand,
  encodeQueueReply,
  type IntakeRecord,
} from './remote-codec.js';
