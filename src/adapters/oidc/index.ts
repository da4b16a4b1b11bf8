/** Identity providers over OpenID Connect. */
export { OpenIdProviders } from './openid-providers.js';
