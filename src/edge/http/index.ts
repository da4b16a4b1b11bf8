export { ClientAddresses, type ProxyRange } from './client-address.js';
export { createFaceServer, type FaceServer, type TlsTexts } from './face-server.js';
export { type HttpLimits, MAX_STRANGERS_BODY_BYTES } from './http-limits.js';
export { endInOnePiece } from './one-piece.js';
export { answerUnread, type BodyOutcome, BodyReader, discardBody, FaceRequest, isLongBody } from './request-body.js';
