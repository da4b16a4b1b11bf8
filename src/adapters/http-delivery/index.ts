export { httpOutOf } from './http-out-of.js';
export { JwtDeliverySigner } from './jwt-delivery-signer.js';
export { resolverOfThisMachine } from './resolve-name.js';
export { type HttpOutOptions, SocketHttpOut } from './socket-http-out.js';
export { StandardWebhooks } from './standard-webhooks.js';
