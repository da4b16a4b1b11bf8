/**
 * The console, for whoever has the port: `/console` and what is below it. Its pages are files of the build, its sessions
 * those that the whole management API takes, and its data comes from the planes of this process.
 *
 * Order of judgement: other sites (403), session (401), the header of a change (403), role (403), body's size (413), then what is
 * asked of the plane.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { managementRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import type { HttpExchange } from '../http/answer.js';
import { answerPage } from '../http/built-pages.js';
import { BODILESS_METHODS, type FaceRequest, PlainRequest } from '../http/index.js';
import { type Mounted, mounted } from '../http/mounted.js';
import { RefusedRequest } from '../http/refused.js';
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

/** What a page's browser says that is no business of a plane. */
const OF_THE_PAGE = /^(cookie|authorization|origin|referer|millrace-csrf|expect|transfer-encoding|sec-.*)$/;

export function createConsoleHandler(parts: ConsoleParts): Mounted {
  const face = new ConsoleFace(parts);
  return mounted({
    name: 'console',
    root: ROOT,
    log: parts.log,
    isDraining: parts.isDraining,
    answer: (exchange, path) => answer(face, exchange, path),
    wording: managementRefusalOf,
  });
}

async function answer(face: ConsoleFace, exchange: HttpExchange, path: string): Promise<void> {
  refuseOtherSites(exchange.request);
  if (path === SESSION) await answerSession(face, exchange);
  else if (path.startsWith(API)) await pass(face, exchange, path.slice(API.length));
  else if (path === ROOT || path.startsWith(`${ROOT}/`))
    await answerPage(face.built, exchange, path.slice(ROOT.length));
  else throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
}

async function pass(face: ConsoleFace, exchange: HttpExchange, asked: string): Promise<void> {
  const { request, response } = exchange;
  const { parts } = face;
  const { grant } = sessionOf(face.pages, request);
  const [name = '', ...rest] = asked.split('/');
  const passedTo = Object.hasOwn(PLANES, name) ? PLANES[name] : undefined;
  if (passedTo === undefined || rest.length === 0) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
  // Who does not see the tokens of data does not see the data either.
  mustBeAllowed(grant.role, 'databases');
  const method = request.method as string;
  const body = BODILESS_METHODS.has(method)
    ? Buffer.alloc(0)
    : await bodyOf(face, exchange, MAX_CONSOLE_BODY_BYTES, grant.account);
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
  const inner = innerRequest(request, passed, parts.sealing().open(passed.token.sealed));
  parts.planes[passed.plane](inner as unknown as FaceRequest, response);
}

/** The same request as the plane's own clients would make it. */
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
