/** OpenAPI security schemes of the management port. */
import type { JsonSchema } from '../http/openapi/parts.js';
import { CSRF_HEADER } from './page-requests.js';
import { SESSION_COOKIE_NAME } from './sealed-sessions.js';

export const MANAGEMENT_KEY: JsonSchema = { type: 'http', scheme: 'basic', description: 'E-mail and API key.' };
export const SESSION_COOKIE: JsonSchema = {
  type: 'apiKey',
  in: 'cookie',
  name: SESSION_COOKIE_NAME,
  description: `A session of the console; a change needs its ${CSRF_HEADER} header, too.`,
};

/** The variables of the examples. */
export const MANAGEMENT_CLIENT = {
  url: 'MILLRACE_MGMT_URL',
  login: ['MILLRACE_MGMT_EMAIL', 'MILLRACE_MGMT_KEY'],
} as const;
