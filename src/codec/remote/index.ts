export {
  decodeKvDelivery,
  decodeKvRequest,
  decodeKvResponse,
  encodeKvDelivery,
  encodeKvRequest,
  encodeKvResponse,
} from './kv-remote.js';
export {
  decodeAnswer,
  decodeRemoteCommand,
  encodeAnswer,
  encodeFailure,
  encodeRemoteCommand,
  type OwnerInstant,
  type RemoteAsk,
  type RemoteCommand,
} from './remote-command.js';
