export { decodeQueueEvents, encodeQueueEvent } from './hot-events.js';
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
