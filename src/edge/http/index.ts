export { encodingFor } from './answer.js';
export { ClientAddresses, type ProxyRange } from './client-address.js';
export { createEndpointServer, type EndpointServer, type TlsTexts } from './endpoint-server.js';
export { type HttpLimits, MAX_STRANGERS_BODY_BYTES } from './http-limits.js';
export { hostAndPort, type Listener, listenOn } from './listening.js';
export { PlainRequest } from './plain-exchange.js';
export {
  answerUnread,
  BODILESS_METHODS,
  type BodyOutcome,
  discardBody,
  EndpointRequest,
  isLongBody,
  ofRead,
  RequestBodyReader,
} from './request-body.js';
