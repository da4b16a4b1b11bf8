/**
 * Requests of pages: a browser sends its session along with whatever any page makes it send, so a change has to show that
 * the console's own page asks for it.
 *
 *  PGR1 with a session nothing is changed without the header that belongs to it, which no other site can know
 *  PGR2 nothing is changed for a page of another origin, whatever else it shows
 *  PGR3 a page is never challenged: its browser would ask for a password in a window of its own
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MANAGEMENT_REFUSALS } from '../error-map.js';
import { BODILESS_METHODS } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { type OpenedSession, type SealedSessions, sessionInCookie } from './sealed-sessions.js';

export const CSRF_HEADER = 'millrace-csrf';

type Asked = Pick<IncomingMessage, 'method' | 'headers'>;

/** Does a page of the console ask? What it may is another question. */
export function isOfPage({ headers }: Asked): boolean {
  return headers[CSRF_HEADER] !== undefined || sessionInCookie(headers.cookie) !== undefined;
}

/** Where pages are asked from, and with which sessions. */
export interface Pages {
  readonly sessions: SealedSessions;
  /** Under which a proxy that rewrites `Host` may have been asked. */
  readonly publicUrls: { readonly search: string };
}

/** @throws Refused 401 for none that is worth anything, 403 (PGR1, PGR2); CONTROL_STALE */
export function sessionOf({ sessions, publicUrls }: Pages, asked: Asked): OpenedSession {
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
 * PGR2. Programs do not say from which site they ask; a browser does, and a page cannot make it say something else.
 * @throws Refused 403
 */
export function refuseOtherSites({ method, headers }: Asked): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none' || BODILESS_METHODS.has(method)) return;
  throw new RefusedRequest(MANAGEMENT_REFUSALS.otherSite);
}

/** The same of browsers that say no site, as all do over plain HTTP. @throws Refused 403 */
export function refuseOtherOrigins({ method, headers: { origin, host } }: Asked, publicUrl: string): void {
  if (origin === undefined || BODILESS_METHODS.has(method)) return;
  if (!isAt(origin, host) && !isAt(origin, hostOf(publicUrl))) throw new RefusedRequest(MANAGEMENT_REFUSALS.otherSite);
}

function isAt(origin: string, host: string | undefined): boolean {
  return host !== undefined && hostOf(origin) === host.toLowerCase();
}

/** `null`, which a page without an origin says, has none. Public URLs may come without a scheme. */
function hostOf(url: string): string | undefined {
  const text = url.includes('://') ? url : `http://${url}`;
  return URL.canParse(text) && url !== 'null' ? new URL(text).host : undefined;
}

function isSame(csrf: string, given: string | string[] | undefined): boolean {
  const [one, other] = [Buffer.from(csrf), Buffer.from(String(given ?? ''))];
  return one.length === other.length && timingSafeEqual(one, other);
}
