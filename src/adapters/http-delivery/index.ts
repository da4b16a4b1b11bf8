export { JwtDeliverySigner } from './jwt-delivery-signer.js';
export { resolverOfThisMachine } from './resolve-name.js';
export { type HttpOutOptions, httpOutOf, SocketHttpOut } from './socket-http-out.js';
export { StandardWebhooks } from './standard-webhooks.js';
