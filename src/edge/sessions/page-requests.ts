/**
 * Requests of pages. A browser sends its session cookie with requests of any page, so a change has to prove that it
 * comes from the console's own page.
 *
 *  PGR1 a change with a session needs the session's CSRF header, which no other site knows
 *  PGR2 a change requested by a page of another origin is refused, whatever else it contains
 *  PGR3 a page is never challenged: its browser would open a password dialog
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MANAGEMENT_REFUSALS } from '../error-map.js';
import { BODILESS_METHODS } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { type OpenedSession, type SealedSessions, sessionInCookie } from './sealed-sessions.js';

export const CSRF_HEADER = 'millrace-csrf';

type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>;

/** Does it come from a page of the console? Its rights are checked elsewhere. */
export function isOfPage({ headers }: RequestHead): boolean {
  return headers[CSRF_HEADER] !== undefined || sessionInCookie(headers.cookie) !== undefined;
}

/** Sessions, and the origins of pages. */
export interface Pages {
  readonly sessions: SealedSessions;
  /** The public origin, for proxies that rewrite `Host`. */
  readonly publicUrls: { readonly search: string };
}

/**
 * @throws Refused 401 without a valid session, 403 (PGR1: a change needs the CSRF header; PGR2: no changes from other
 * origins); CONTROL_STALE
 */
export function sessionOf({ sessions, publicUrls }: Pages, asked: RequestHead): OpenedSession {
  const { method, headers } = asked;
  const text = sessionInCookie(headers.cookie);
  const session = text === undefined ? undefined : sessions.opened(text);
  if (session === undefined) throw new RefusedRequest(MANAGEMENT_REFUSALS.sessionOver);
  refuseOtherOrigins(asked, publicUrls.search);
  if (!BODILESS_METHODS.has(method) && !isSame(session.csrf, headers[CSRF_HEADER])) {
    throw new RefusedRequest(MANAGEMENT_REFUSALS.noCsrf);
  }
  return session;
}

/**
 * Refuses changes from other origins (PGR2). Browsers send the header and pages cannot change it; other programs do
 * not send it.
 * @throws Refused 403
 */
export function refuseOtherSites({ method, headers }: RequestHead): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none' || BODILESS_METHODS.has(method)) return;
  throw new RefusedRequest(MANAGEMENT_REFUSALS.otherSite);
}

/** The same for browsers without that header, which is missing over plain HTTP. @throws Refused 403 */
export function refuseOtherOrigins({ method, headers: { origin, host } }: RequestHead, publicUrl: string): void {
  if (origin === undefined || BODILESS_METHODS.has(method)) return;
  if (!isAt(origin, host) && !isAt(origin, hostOf(publicUrl))) throw new RefusedRequest(MANAGEMENT_REFUSALS.otherSite);
}

function isAt(origin: string, host: string | undefined): boolean {
  return host !== undefined && hostOf(origin) === host.toLowerCase();
}

/** Undefined for `null`, the origin of some pages. Public URLs may have no scheme. */
function hostOf(url: string): string | undefined {
  const text = url.includes('://') ? url : `http://${url}`;
  return URL.canParse(text) && url !== 'null' ? new URL(text).host : undefined;
}

function isSame(csrf: string, given: string | string[] | undefined): boolean {
  const [one, other] = [Buffer.from(csrf), Buffer.from(String(given ?? ''))];
  return one.length === other.length && timingSafeEqual(one, other);
}
