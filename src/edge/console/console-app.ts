/**
 * The console as middleware: `/console` and the paths below it. Its pages are files of the build, its sessions are
 * those of the management API, and its data comes from the data planes of this process.
 *
 * Order of checks: cross-site requests (403), session (401), CSRF header of a change (403), route (404, 405), role
 * (403), body size (413), then the checks of the data plane.
 */
import type { Middleware } from 'koa';
import { STRANGERS } from '../../kernel/index.js';
import { managementRefusalOf } from '../error-map.js';
import { PRIVATE_HEADERS } from '../http/answer.js';
import { readsBody, type Stage } from '../http/application.js';
import { servesPages } from '../http/built-pages.js';
import { discardBody } from '../http/index.js';
import { openPathsOf } from '../http/route.js';
import { routed } from '../http/routing.js';
import { subHandler } from '../http/sub-handler.js';
import { refuseOtherOrigins, refuseOtherSites, sessionOf } from '../sessions/page-requests.js';
import { mustBeEntitled } from '../team-permissions.js';
import { ConsoleCall, type ConsoleRoute, type ConsoleState } from './console-call.js';
import { ConsoleEndpoint, type ConsoleParts } from './console-endpoint.js';
import { MAX_CONSOLE_BODY_BYTES, MAX_SIGN_IN_BYTES } from './console-limits.js';
import { PLANE_ROUTES } from './planes.js';
import { PROVIDER_ROUTES, SIGN_IN_ROOT } from './provider-routes.js';
import { CONSOLE_SESSION_ROUTES } from './session-routes.js';

/** Leads a browser that opens the port's address to the console; other clients get the API's answer. */
export const leadsBrowsers: Middleware = (context, next) => {
  const { method, path, headers } = context;
  const isPage = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
  if (path !== '/' || !isPage) return next();
  context.set(PRIVATE_HEADERS);
  context.redirect('/console');
  return undefined;
};

const ROOT = '/console';
const API = `${ROOT}/api/`;
const ROUTES: readonly ConsoleRoute[] = [...CONSOLE_SESSION_ROUTES, ...PROVIDER_ROUTES, ...PLANE_ROUTES];
const OPEN = openPathsOf(ROUTES);

export function createConsoleHandler(parts: ConsoleParts): Middleware {
  const endpoint = new ConsoleEndpoint(parts);
  const [api, pages] = [routerOf(endpoint), servesPages(ROOT, endpoint.built)];
  return subHandler<ConsoleState>({
    name: 'console',
    root: ROOT,
    log: parts.log,
    isDraining: parts.isDraining,
    answer: (context, next) => {
      refuseOtherSites(context.req);
      if (!context.path.startsWith(API)) return pages(context, next);
      const isOpen = OPEN.has(context.path) || context.path.startsWith(SIGN_IN_ROOT);
      if (!isOpen) context.state.grant = sessionOf(endpoint.pages, context.req).grant;
      return api(context, next);
    },
    wording: managementRefusalOf,
  });
}

function routerOf(endpoint: ConsoleEndpoint): Stage<ConsoleState> {
  const { bodies, pages } = endpoint;
  const bound = { bodies, tenantOf: ({ state }: { state: ConsoleState }) => state.grant?.account ?? STRANGERS };
  const ofSignIn: Stage<ConsoleState> = readsBody({ ...bound, limitBytesOf: () => MAX_SIGN_IN_BYTES });
  const ofPage: Stage<ConsoleState> = readsBody({ ...bound, limitBytesOf: () => MAX_CONSOLE_BODY_BYTES });
  return routed<ConsoleRoute, ConsoleState>(ROUTES, {}, async (context, route, path) => {
    const call = new ConsoleCall(endpoint, context);
    const handle = async () => route.handle(call, { path, query: {}, body: {} });
    if (route.permission !== 'open') {
      // A role that may not see the tokens of data may not see the data either.
      mustBeEntitled(call.grant, route, path);
      await ofPage(context, handle);
    } else if (route.bodyBound === 'sign-in') {
      // A page of another site could sign a user in with other credentials.
      refuseOtherOrigins(context.req, pages.publicUrls.search);
      await ofSignIn(context, handle);
    } else {
      discardBody(context.req);
      await handle();
    }
  });
}
