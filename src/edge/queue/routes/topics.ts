/** `/v2/topics`: URL groups. */

import { membersOf } from '../../http/checked.js';
import { parseJson } from '../../http/json-items.js';
import { invalid, inWordsOf } from '../../http/refused.js';
import type { PathParts } from '../../http/route.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import { GROUP_DEFAULTS, NEW_ENDPOINTS, OLD_ENDPOINTS } from '../body-shapes.js';
import { checkedName } from '../call-filters.js';
import { destinationOf } from '../destination.js';
import { refuseForbidden, settingsOf } from '../publish-items.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { groupRecord } from '../records/resource-records.js';
import { EndpointsRequest } from '../requests/endpoints.js';
import { headersOf } from '../requests/header-members.js';

export const TOPIC_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/topics', {
    summary: 'Lists URL groups.',
    permission: 'read',
    answer: lists('UrlGroup'),
    async handle(call) {
      const { groups } = await call.ask({ type: 'ListGroups' }, 'Groups');
      await call.list(['[', ']'], groups, groupRecord);
    },
  }),

  queueRoute('GET /v2/topics/:name', {
    summary: 'Shows a URL group.',
    permission: 'read',
    answer: shows('UrlGroup'),
    async handle(call, { path: parts }) {
      const { groups } = await call.ask({ type: 'GetGroup', group: nameIn(parts) }, 'Groups');
      call.value(200, groupRecord(only(groups)));
    },
  }),

  queueRoute('PATCH /v2/topics/:name', {
    summary: 'Sets the default headers of a URL group.',
    permission: 'change',
    bodyShape: GROUP_DEFAULTS,
    example: { headers: { 'Svc-Retries': '5' } },
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      const member = membersOf(parseJson(call.body)).get('headers');
      const members = headersOf(call.endpoint.spellings, member, 'headers');
      const { headers } = members;
      inWordsOf(members, () => settingsOf(call, { headers, query: [] }, 'publish', { refuses: 'options' }));
      await call.ask({ type: 'SetGroupDefaults', group: nameIn(parts), defaults: headers }, 'Done');
      call.done();
    },
  }),

  queueRoute('DELETE /v2/topics/:name', {
    summary: 'Deletes a URL group.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      await call.ask({ type: 'DeleteGroup', group: nameIn(parts) }, 'Done');
      call.done();
    },
  }),

  queueRoute('POST /v2/topics/:name/endpoints', {
    summary: 'Adds endpoints to a URL group.',
    permission: 'change',
    bodyShape: NEW_ENDPOINTS,
    example: { endpoints: [{ url: 'https://example.com/hooks', name: 'first' }] },
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      const endpoints = EndpointsRequest.from(parseJson(call.body)).complete();
      for (const { url } of endpoints) refuseEndpoint(call, url);
      await call.ask({ type: 'UpsertEndpoints', group: nameIn(parts), endpoints }, 'Done');
      call.done();
    },
  }),

  queueRoute('DELETE /v2/topics/:name/endpoints', {
    summary: 'Takes endpoints out of a URL group.',
    permission: 'change',
    bodyShape: OLD_ENDPOINTS,
    example: { endpoints: [{ name: 'first' }] },
    answer: DONE_ANSWER,
    async handle(call, { path: parts }) {
      const endpoints = EndpointsRequest.from(parseJson(call.body)).identified();
      await call.ask({ type: 'RemoveEndpoints', group: nameIn(parts), endpoints }, 'Done');
      call.done();
    },
  }),
];

/** @throws Refused 400 for an invalid or forbidden URL */
function refuseEndpoint(call: QueueCall, url: string): void {
  if (destinationOf(url).kind === 'group') {
    throw invalid('invalid endpoint url: endpoint has invalid scheme, add http:// or https://');
  }
  refuseForbidden(call, 'endpoint', url);
}

/** @throws Refused 400 */
function nameIn({ name }: PathParts): string {
  return checkedName('URL group name', name);
}
