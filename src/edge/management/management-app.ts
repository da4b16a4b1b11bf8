/** The routes as an application, made from their declarations: routing, rights, and values turned into answers. */
import { MANAGEMENT_REFUSALS, managementRefusalOf } from '../error-map.js';
import { PRIVATE_HEADERS, write, writeRefusal } from '../http/answer.js';
import { type Application, createApplication } from '../http/application.js';
import { parsed } from '../http/json-bounds.js';
import { RefusedRequest } from '../http/refused.js';
import { requestOf } from '../http/request-class.js';
import { changesAnything, Nothing } from '../http/route.js';
import { RouteTable } from '../http/route-table.js';
import { staleHeader } from '../http/stale-header.js';
import { mustBeAllowed } from '../team-permissions.js';
import type { ManagementRoute } from './management-call.js';
import type { ManagementFace } from './management-face.js';
import type { Arrived } from './management-handler.js';

const TYPE = 'application/json; charset=utf-8';
const ROUTING = {
  allowsLastSlash: true,
  answersHead: true,
  isFirstAlone: true,
};

export function createManagementApp(face: ManagementFace, routes: readonly ManagementRoute[]): Application<Arrived> {
  const table = new RouteTable(routes, ROUTING);
  return createApplication<Arrived>({
    name: 'management',
    log: face.parts.log,
    run: async (arrived, context) => {
      const { call, fields, request, response } = arrived;
      if (context.accepts('json') === false) throw new RefusedRequest(MANAGEMENT_REFUSALS.jsonOnly);
      const { route, path } = table.find(request, arrived.path);
      if (route.permission !== 'open') {
        if (changesAnything(route) && call.grant.isReadOnly) throw new RefusedRequest(MANAGEMENT_REFUSALS.readOnly);
        mustBeAllowed(call.grant.role, route.permission);
      }
      const query = requestOf(route.query, context.query);
      const body = requestOf(route.body, route.body === Nothing ? {} : fields.neutral(jsonOf(arrived.body)));
      const text = JSON.stringify(fields.spelled(await route.handle(call, { path, query, body })));
      const headers = { ...PRIVATE_HEADERS, ...staleHeader(call) };
      write(response, { status: 200, text, type: TYPE, headers, isLast: face.isDraining });
    },
    refuse: (arrived, failure) => {
      const refused = face.incidents.refused(failure, managementRefusalOf);
      const text = JSON.stringify({ error: arrived.fields.text(refused.refusal.text) });
      writeRefusal(arrived, refused, { text, type: TYPE, headers: PRIVATE_HEADERS, isLast: face.isDraining });
    },
  });
}

function jsonOf(body: Buffer): unknown {
  return body.length === 0 ? undefined : parsed(body);
}
