/**
 * What browsers need to be told: the read-only token is made for pages of any origin. There are no cookies, so an
 * origin gains nothing by being let in.
 */
import type { IncomingMessage } from 'node:http';

const SEARCH_METHODS = 'GET, POST, DELETE';

/** Seconds a browser may remember a preflight's answer; Chromium's own bound. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200';
/** Client packages send headers about themselves under names that are theirs. */
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

/** For every answer to a request that has an origin, refusals included. */
export function answerHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  if (headers.origin === undefined) return {};
  return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'Retry-After' };
}
