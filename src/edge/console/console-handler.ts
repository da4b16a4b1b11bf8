/**
 * The console: `/console` and the paths below it. Its pages are files of the build, its sessions are those of the
 * management API, and its data comes from the data planes of this process.
 *
 * Order of checks: cross-site requests (403), session (401), CSRF header of a change (403), role (403), body size
 * (413), then the checks of the data plane.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Middleware } from 'koa';
import { managementRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import { type PipelineContext, takeOver } from '../http/application.js';
import { answerPage } from '../http/built-pages.js';
import { BODILESS_METHODS, type FaceRequest, PlainRequest } from '../http/index.js';
import { RefusedRequest } from '../http/refused.js';
import { subHandler } from '../http/sub-handler.js';
import { refuseOtherSites, sessionOf } from '../sessions/page-requests.js';
import { mustBeAllowed } from '../team-permissions.js';
import { ConsoleFace, type ConsoleParts } from './console-face.js';
import { MAX_CONSOLE_BODY_BYTES } from './console-limits.js';
import { bodyOf } from './page-body.js';
import { type Passed, type PlaneAsk, passedToKv, passedToQueue, passedToSearch } from './planes.js';
import { answerSession } from './session-routes.js';

const ROOT = '/console';
const API = `${ROOT}/api/`;
const SESSION = `${API}session`;

const PLANES: Readonly<Record<string, (ask: PlaneAsk) => Promise<Passed>>> = {
  kv: passedToKv,
  queue: passedToQueue,
  search: passedToSearch,
};

/** Headers of the page's browser that the data plane does not need. */
const OF_THE_PAGE = /^(cookie|authorization|origin|referer|millrace-csrf|expect|transfer-encoding|sec-.*)$/;

export function createConsoleHandler(parts: ConsoleParts): Middleware {
  const face = new ConsoleFace(parts);
  return subHandler({
    name: 'console',
    root: ROOT,
    log: parts.log,
    isDraining: parts.isDraining,
    answer: (context) => answer(face, context),
    wording: managementRefusalOf,
  });
}

async function answer(face: ConsoleFace, context: PipelineContext): Promise<void> {
  const { path } = context;
  refuseOtherSites(context.req);
  if (path === SESSION) await answerSession(face, context);
  else if (path.startsWith(API)) {
    await pass(face, context, path.slice(API.length));
  } else if (path === ROOT || path.startsWith(`${ROOT}/`)) {
    await answerPage(face.built, context, path.slice(ROOT.length));
  } else throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
}

async function pass(face: ConsoleFace, context: PipelineContext, asked: string): Promise<void> {
  const { req: request, res: response } = context;
  const { parts } = face;
  const { grant } = sessionOf(face.pages, request);
  const [name = '', ...rest] = asked.split('/');
  const passedTo = Object.hasOwn(PLANES, name) ? PLANES[name] : undefined;
  if (passedTo === undefined || rest.length === 0) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
  // A role that may not see the tokens of data may not see the data either.
  mustBeAllowed(grant.role, 'databases');
  const method = request.method as string;
  const body = BODILESS_METHODS.has(method)
    ? Buffer.alloc(0)
    : await bodyOf(face, { request, response }, MAX_CONSOLE_BODY_BYTES, grant.account);
  const passed = await passedTo({
    control: parts.control,
    grant,
    ip: face.addresses.of(request),
    method,
    rest: rest.join('/'),
    query: queryOf(request.url as string),
    body,
    changesDocuments: (command) => parts.changesDocuments(command),
  });
  if (response.destroyed) return;
  const token = parts.sealing().open(passed.token.sealed);
  if (passed.plane === 'search') {
    context.state.passed = { url: passed.url, token, body: passed.body };
    context.url = passed.url;
    await parts.planes.search(context, refuseUnknown);
    return;
  }
  const inner = innerRequest(request, passed, token);
  // A plane uses only the members of a request that both types have.
  parts.planes[passed.plane](inner as unknown as FaceRequest, takeOver(context));
}

async function refuseUnknown(): Promise<never> {
  throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
}

/** The request as a client of the data plane would send it. */
function innerRequest(request: IncomingMessage, { url, body }: Passed, token: string): PlainRequest {
  const rawHeaders = ['Authorization', `Bearer ${token}`];
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const [name, value] = request.rawHeaders.slice(at, at + 2) as [string, string];
    if (OF_THE_PAGE.test(name.toLowerCase())) continue;
    rawHeaders.push(name, value);
    headers[name.toLowerCase()] = value;
  }
  const method = request.method as PlainRequest['method'];
  return new PlainRequest({ method, url, headers, rawHeaders } as never, body, request.socket as Socket, () => {});
}

function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark);
}
