export { decodeQueueEvents, encodeQueueEvent } from './event-codec.js';
export {
  decodeIntakeRecord,
  decodeQueueCommand,
  decodeQueueReply,
  encodeIntakeRecord,
  encodeQueueCommand,
  encodeQueueReply,
  type IntakeRecord,
  type RemoteQueueCommand,
} from './remote-codec.js';
