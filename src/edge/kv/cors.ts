/**
 * CORS headers. They allow every origin, because browsers are meant to use the read-only token from any page; there
 * are no cookies, so an allowed origin gains no access.
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { HttpRequest } from '../http/exchange.js';
import type { HeaderAliases } from '../wire-alias.js';

export const ALLOWED_METHODS = 'HEAD, GET, POST, PUT';

/** Seconds for which a browser may cache a preflight's answer; Chromium's maximum. */
const PREFLIGHT_MAX_AGE_SECONDS = 7200;

export class Cors {
  readonly #allowedHeaders: string;
  readonly #exposedHeaders: string;

  constructor(spellings: HeaderAliases) {
    this.#allowedHeaders = ['Authorization', 'Content-Type', 'Accept', ...spellings.requestHeaders()].join(', ');
    this.#exposedHeaders = [...spellings.responseHeaders(), 'Retry-After'].join(', ');
  }

  isPreflight(request: HttpRequest): boolean {
    const { origin } = request.headers;
    return request.method === 'OPTIONS' && origin !== undefined && 'access-control-request-method' in request.headers;
  }

  preflightHeaders(origin: string): OutgoingHttpHeaders {
    return {
      ...this.#originHeaders(origin),
      'Access-Control-Allow-Methods': ALLOWED_METHODS,
      'Access-Control-Allow-Headers': this.#allowedHeaders,
      'Access-Control-Max-Age': PREFLIGHT_MAX_AGE_SECONDS,
    };
  }

  /** Headers of every answer to a request with an origin, refusals included. */
  answerHeaders(origin: string): OutgoingHttpHeaders {
    return { ...this.#originHeaders(origin), 'Access-Control-Expose-Headers': this.#exposedHeaders };
  }

  #originHeaders(origin: string): OutgoingHttpHeaders {
    return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true', Vary: 'Origin' };
  }
}
