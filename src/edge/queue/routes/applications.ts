/** `/v2/apps`: applications, which are customers of the account's owner, and their endpoints with secrets. */
import {
  type ApplicationEndpoint,
  type EndpointSecret,
  isSigning,
  MAX_APPLICATION_COUNT,
  MAX_SECRET_KEEP_MS,
  type NewEndpointSecret,
  type QueueCommandOf,
} from '../../../domain/queue/index.js';
import { compileFilter } from '../../../domain/search/index.js';
import { newId } from '../../../protocol/index.js';
import { invalid } from '../../http/refused.js';
import { DONE_ANSWER, lists, shows } from '../answer-schemas.js';
import {
  applicationIn,
  breakerOf,
  endpointIn,
  refuseEarlyLevel,
  refuseNoMail,
} from '../applications/application-in.js';
import { labelOfEndpoint } from '../applications/fan-out.js';
import { countOf, queryParameters, single } from '../call-filters.js';
import { filterParameters } from '../call-parameters.js';
import { destinationOf } from '../destination.js';
import { refuseForbidden, refuseNotUrl } from '../publish-items.js';
import { only, type QueueCall, type QueueRoute, queueRoute } from '../queue-call.js';
import { DEFAULT_SECRET_KEEP_MS } from '../queue-limits.js';
import { APPLICATION_BODIES, applicationRecord, endpointRecord, secretRecord } from '../records/application-record.js';
import {
  ApplicationRequest,
  bodyOf,
  EndpointChangesRequest,
  endpointHeaderOf,
  judged,
  metadataOf,
  NewEndpointRequest,
  RotationRequest,
} from '../requests/application-request.js';

const OF_LIST: ReadonlySet<string> = new Set(['search', 'count', 'cursor']);
const ENDPOINT_EXAMPLE = { url: 'https://customer.example/hooks', eventTypes: ['invoice.paid'] };

export const APPLICATION_ROUTES: readonly QueueRoute[] = [
  queueRoute('GET /v2/apps', {
    summary: 'Lists applications by id, with the number of their endpoints.',
    permission: 'read',
    parameters: filterParameters(OF_LIST),
    answer: shows('ApplicationPage'),
    async handle(call) {
      const parameters = queryParameters(call.words.rest, OF_LIST);
      const count = countOf(parameters, MAX_APPLICATION_COUNT) ?? MAX_APPLICATION_COUNT;
      const [search, after] = [single(parameters, 'search'), single(parameters, 'cursor')];
      const reply = await call.ask({ type: 'ListApplications', search, after, count }, 'Applications');
      const applications = reply.applications.map((application, at) => ({
        ...applicationRecord(application),
        endpoints: reply.endpointCounts[at] ?? 0,
      }));
      call.value(200, { applications, total: reply.total, cursor: reply.after });
    },
  }),

  queueRoute('POST /v2/apps', {
    summary: 'Makes an application: one customer who gets webhooks.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.application, isNeeded: false },
    example: { name: 'Customer Ltd', uid: 'customer-17' },
    answer: shows('Application'),
    async handle(call) {
      refuseEarlyLevel(call);
      await setApplication(call, newId('app_', call.endpoint.parts.random), true);
    },
  }),

  queueRoute('GET /v2/apps/:id', {
    summary: 'Shows an application, named by its id or its uid.',
    permission: 'read',
    answer: shows('Application'),
    async handle(call, { path }) {
      call.value(200, applicationRecord((await applicationIn(call, path)).application));
    },
  }),

  queueRoute('PATCH /v2/apps/:id', {
    summary: 'Changes members of an application.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.application },
    example: { rate: 10, ratePeriodSeconds: 60 },
    answer: shows('Application'),
    async handle(call, { path }) {
      await setApplication(call, (await applicationIn(call, path)).application.id, false);
    },
  }),

  queueRoute('DELETE /v2/apps/:id', {
    summary: 'Deletes an application with its endpoints. Its waiting messages are cancelled.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      const { id } = (await applicationIn(call, path)).application;
      await call.ask({ type: 'DeleteApplication', id }, 'Done');
      await cancelled(call, { topicName: [id] });
      call.done();
    },
  }),

  queueRoute('GET /v2/apps/:id/endpoints', {
    summary: 'Lists the endpoints of an application.',
    permission: 'read',
    answer: lists('ApplicationEndpoint'),
    async handle(call, { path }) {
      const { endpoints, breakers = [] } = await applicationIn(call, path);
      const record = (endpoint: ApplicationEndpoint) => endpointRecord(endpoint, breakerOf(breakers, endpoint));
      await call.list(['[', ']'], endpoints, record);
    },
  }),

  queueRoute('POST /v2/apps/:id/endpoints', {
    summary: 'Adds an endpoint to an application.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.newEndpoint },
    example: ENDPOINT_EXAMPLE,
    answer: shows('ApplicationEndpoint'),
    async handle(call, { path }) {
      const request = bodyOf(NewEndpointRequest, call.body);
      if (request.url === undefined) throw invalid('url is required');
      const changes = endpointChanges(call, request);
      const secrets = newSecrets(call, request);
      const id = newId('ep_', call.endpoint.parts.random);
      await setEndpoint(call, { ...changes, application: path.id ?? '', id, isNew: true, secrets });
    },
  }),

  queueRoute('GET /v2/apps/:id/endpoints/:endpoint', {
    summary: 'Shows an endpoint of an application.',
    permission: 'read',
    answer: shows('ApplicationEndpoint'),
    async handle(call, { path }) {
      const { endpoint, breakers = [] } = await endpointIn(call, path);
      call.value(200, endpointRecord(endpoint, breakerOf(breakers, endpoint)));
    },
  }),

  queueRoute('PATCH /v2/apps/:id/endpoints/:endpoint', {
    summary: 'Changes members of an endpoint. Waiting messages keep their address.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.endpoint },
    example: { disabled: true },
    answer: shows('ApplicationEndpoint'),
    async handle(call, { path }) {
      const changes = endpointChanges(call, bodyOf(EndpointChangesRequest, call.body));
      const { id = '', endpoint = '' } = path;
      await setEndpoint(call, { ...changes, application: id, id: endpoint, isNew: false, secrets: [] });
    },
  }),

  queueRoute('DELETE /v2/apps/:id/endpoints/:endpoint', {
    summary: 'Deletes an endpoint. Its waiting messages are cancelled.',
    permission: 'change',
    answer: DONE_ANSWER,
    async handle(call, { path }) {
      const { id = '', endpoint = '' } = path;
      const { application } = await applicationIn(call, path);
      await call.ask({ type: 'DeleteApplicationEndpoint', application: id, id: endpoint }, 'Done');
      await cancelled(call, { topicName: [application.id], label: [labelOfEndpoint(endpoint)] });
      call.done();
    },
  }),

  queueRoute('GET /v2/apps/:id/endpoints/:endpoint/secrets', {
    summary: 'Shows the secrets that sign deliveries to an endpoint, the newest first.',
    // A secret can sign deliveries, so a read-only token may not see it.
    permission: 'change',
    answer: lists('EndpointSecret'),
    async handle(call, { path }) {
      const { endpoint } = await endpointIn(call, path);
      await call.list(['[', ']'], shownSecrets(call, endpoint.secrets), (secret) => secret);
    },
  }),

  queueRoute('POST /v2/apps/:id/endpoints/:endpoint/secrets/rotate', {
    summary: 'Adds a secret to an endpoint. The earlier ones sign, too, for a time.',
    permission: 'change',
    bodyShape: { of: APPLICATION_BODIES.rotation, isNeeded: false },
    example: { keepSeconds: 86_400 },
    answer: lists('EndpointSecret'),
    async handle(call, { path }) {
      const { version = 'v1', secret: given, keepSeconds } = bodyOf(RotationRequest, call.body);
      if (given !== undefined && version !== 'v1') throw invalid('secret: a key of v1a is made here');
      const { secrets } = call.endpoint.parts;
      const command = {
        type: 'RotateEndpointSecret',
        application: path.id ?? '',
        endpoint: path.endpoint ?? '',
        secret: given === undefined ? secrets.made(version) : judged('', () => secrets.given(given)),
        keepsMs: keepSeconds === undefined ? DEFAULT_SECRET_KEEP_MS : Math.min(keepSeconds * 1000, MAX_SECRET_KEEP_MS),
      } as const;
      const { endpoints } = await call.ask(command, 'Application');
      await call.list(['[', ']'], shownSecrets(call, only(endpoints).secrets), (secret) => secret);
    },
  }),
];

async function setApplication(call: QueueCall, id: string, isNew: boolean): Promise<void> {
  const { name, uid, metadata, rate, ratePeriodSeconds = 1, notifyUrl, email } = bodyOf(ApplicationRequest, call.body);
  if (notifyUrl !== undefined && notifyUrl !== '') refuseNotUrl(call, notifyUrl);
  if (email !== undefined && email !== '') refuseNoMail(call);
  const { application } = await call.ask(
    {
      type: 'SetApplication',
      id,
      isNew,
      uid,
      name,
      metadata: metadataOf(metadata),
      rate: rate === undefined ? undefined : { rate, periodSeconds: ratePeriodSeconds },
      ...(notifyUrl !== undefined && { notifyUrl }),
      ...(email !== undefined && { email }),
    },
    'Application',
  );
  call.value(200, applicationRecord(application));
}

type EndpointChanges = Pick<
  QueueCommandOf<'SetApplicationEndpoint'>,
  'url' | 'description' | 'eventTypes' | 'filter' | 'header' | 'isDisabled'
>;

/** @throws Refused 400, also for an address that deliveries may not call */
function endpointChanges(call: QueueCall, request: EndpointChangesRequest): EndpointChanges {
  const { url, description, eventTypes, disabled } = request;
  if (url !== undefined) {
    if (destinationOf(url).kind === 'group') throw invalid('url: must begin with http:// or https://');
    refuseForbidden(call, 'endpoint', url);
  }
  const filter = request.filter?.trim();
  if (filter !== undefined) judged('filter: ', () => compileFilter(filter));
  return {
    url,
    description,
    eventTypes: eventTypes && [...new Set(eventTypes)],
    filter,
    header: endpointHeaderOf(request.headers),
    isDisabled: disabled,
  };
}

async function setEndpoint(call: QueueCall, command: Omit<QueueCommandOf<'SetApplicationEndpoint'>, 'type'>) {
  const { endpoints, breakers = [] } = await call.ask({ type: 'SetApplicationEndpoint', ...command }, 'Application');
  const endpoint = only(endpoints);
  call.value(200, endpointRecord(endpoint, breakerOf(breakers, endpoint)));
}

function newSecrets(call: QueueCall, { secret, signatures = ['v1'] }: NewEndpointRequest): NewEndpointSecret[] {
  const { secrets } = call.endpoint.parts;
  if (signatures.length === 0) throw invalid('signatures: an endpoint needs a signature');
  return [...new Set(signatures)].map((version) =>
    version === 'v1' && secret !== undefined ? judged('', () => secrets.given(secret)) : secrets.made(version),
  );
}

function shownSecrets(call: QueueCall, held: readonly EndpointSecret[]) {
  const { secrets, clock } = call.endpoint.parts;
  const nowMs = clock.nowMs();
  return held.filter((one) => isSigning(one, nowMs)).map((one) => secretRecord(one, secrets.shown(one)));
}

async function cancelled(call: QueueCall, filter: { topicName: string[]; label?: string[] }): Promise<void> {
  await call.ask({ type: 'CancelMessages', selector: { kind: 'filter', filter, count: undefined } }, 'Cancelled');
}
