/**
 * CORS headers. They allow every origin, because the read-only token is made for pages; there are no cookies, so an
 * allowed origin gains no access.
 */
import type { IncomingMessage } from 'node:http';
import type { PipelineContext } from '../http/application.js';

const SEARCH_METHODS = 'GET, POST, DELETE';

/** Seconds for which a browser may cache a preflight's answer; Chromium's maximum. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200';
/** Client libraries send headers about themselves, with names of their choice. */
const HEADER_NAMES = /^[\w\-, ]{1,1024}$/;

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

export function preflightHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const asked = String(headers['access-control-request-headers'] ?? '');
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': SEARCH_METHODS,
    'Access-Control-Allow-Headers': HEADER_NAMES.test(asked) ? asked : 'Authorization, Content-Type',
    'Access-Control-Max-Age': PREFLIGHT_MAX_AGE_SECONDS,
    Vary: 'Access-Control-Request-Headers',
  };
}

/** Headers of every answer, refusals included; none for a request without an origin, or of a page of this process. */
export function answerHeaders({ req: { headers }, state }: PipelineContext): Readonly<Record<string, string>> {
  if (headers.origin === undefined || state.passed !== undefined) return {};
  return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };
}
