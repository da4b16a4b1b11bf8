/** The routes as a Koa application, made from their declarations: routing, rights, and values turned into answers. */
import type { ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { describeError } from '../../kernel/index.js';
import { MANAGEMENT_REFUSALS } from '../error-map.js';
import type { FaceRequest } from '../http/index.js';
import { invalid, Refused } from '../http/refused.js';
import { requestOf } from '../http/request-class.js';
import { staleHeader } from '../http/stale-header.js';
import { mustBeAllowed } from '../team-permissions.js';
import { refusedBy } from './failures.js';
import type { ManagementFace } from './management-face.js';
import { ANSWER_HEADERS, type Application, type Arrived } from './management-handler.js';
import { changesAnything, Nothing, type PathParts, type Route } from './route.js';

export function createManagementApp(face: ManagementFace, routes: readonly Route[]): Application {
  const router = routerOf(routes);
  const arrivals = new WeakMap<object, Arrived>();
  const app = new Koa();
  // Errors are answered and logged below; Koa would print them.
  app.silent = true;
  app.on('error', (error) => face.parts.log.error('management.request.failed', { error: describeError(error) }));
  app.use(async (context, next) => {
    const arrived = arrivals.get(context.req) as Arrived;
    context.state.arrived = arrived;
    context.url = arrived.query === '' ? arrived.path : `${arrived.path}?${arrived.query}`;
    context.set(ANSWER_HEADERS);
    if (face.isDraining) context.set('Connection', 'close');
    try {
      if (context.accepts('json') === false) throw new Refused(MANAGEMENT_REFUSALS.jsonOnly);
      refuseOtherMethods(router, context);
      await next();
    } catch (failure) {
      renderRefusal(context, arrived, refusedBy(face, failure));
    }
  });
  app.use(router.routes());
  const callback = app.callback();
  return (request: FaceRequest, response: ServerResponse, arrived: Arrived) => {
    arrivals.set(request, arrived);
    void callback(request, response);
  };
}

/** Fixed parts of paths win over parameters: the more of them, and the further to the left, the earlier. */
function routerOf(routes: readonly Route[]): Router {
  const router = new Router({ sensitive: true });
  const all = routes.flatMap((route) =>
    route.paths.flatMap((path) => route.methods.map((method) => ({ path, method, route }))),
  );
  for (const { path, method, route } of all.sort((a, b) => compareText(rankOf(a.path), rankOf(b.path)))) {
    router[method](path, async (context) => {
      const { call, body, fields } = context.state.arrived as Arrived;
      if (route.permission !== 'open') {
        if (changesAnything(route) && call.grant.isReadOnly) throw new Refused(MANAGEMENT_REFUSALS.readOnly);
        mustBeAllowed(call.grant.role, route.permission);
      }
      const query = requestOf(route.query, context.query);
      const asked = requestOf(route.body, route.body === Nothing ? {} : fields.neutral(jsonOf(body)));
      const answer = await route.handle(call, { path: context.params as PathParts, query, body: asked });
      context.set(staleHeader(call));
      render(context, 200, fields.spelled(answer));
    });
  }
  return router;
}

/** Of a path that is matched by more than one pattern, the first alone counts: `/v2/teams/member` names no team. */
function refuseOtherMethods(router: Router, { path, method }: Koa.Context): void {
  const { path: layers, pathAndMethod } = router.match(path, method);
  const [first] = layers;
  if (first === undefined) throw new Refused(MANAGEMENT_REFUSALS.routeNotFound);
  if (pathAndMethod[0]?.path === first.path) return;
  const methods = layers.filter((layer) => layer.path === first.path).flatMap((layer) => layer.methods);
  throw new Refused(MANAGEMENT_REFUSALS.methodNotAllowed, { Allow: [...new Set(methods)].join(', ') });
}

function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw invalid('the body is not valid JSON');
  }
}

function render(context: Koa.Context, status: number, value: unknown): void {
  context.status = status;
  context.type = 'application/json';
  context.body = JSON.stringify(value);
}

function renderRefusal(context: Koa.Context, { fields }: Arrived, { refusal, headers }: Refused): void {
  const { status, text, retryAfterSeconds } = refusal;
  if (retryAfterSeconds !== undefined) context.set('Retry-After', String(retryAfterSeconds));
  for (const [name, value] of Object.entries(headers)) context.set(name, value);
  render(context, status, { error: fields.text(text) });
}

/** Sorts parameters behind fixed parts, part by part. */
function rankOf(path: string): string {
  return path
    .split('/')
    .map((part) => (part.startsWith(':') ? '1' : '0'))
    .join('');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
