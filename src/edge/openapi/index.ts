export { openApiDocument } from './document.js';
export { openApiRoute } from './openapi-route.js';
