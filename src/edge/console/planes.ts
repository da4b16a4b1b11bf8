/**
 * `/console/api/kv/<database>`, `/console/api/queue/<account>/<path>`, `/console/api/search/<index>/<path>` and
 * `/console/api/vector/<index>/<path>`: forwards a page's requests to the data planes inside this process, with the rights of the page's session.
 *
 *  CPL1 no token of a data plane reaches a page: it is opened here and given only to the data plane
 *  CPL2 a request without a line in the audit log cannot change data: it has the read-only token or the checked form
 *       (JPI1: newly serialised). The line is stored before the request is sent
 *  CPL3 a read-only key, or a caller without the right to change the resource, changes no data here either
 */
import {
  type AuditAction,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
} from '../../domain/control/index.js';
import type { IndexPlane } from '../../ports/index.js';
import { accountIdOfUuid, databaseIdOfUuid } from '../../protocol/index.js';
import { askControl } from '../control-asking.js';
import { MANAGEMENT_REFUSALS, notFound } from '../error-map.js';
import type { AnswerShape } from '../http/answer-shape.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import type { PathParts } from '../http/route.js';
import { mustBeAllowed } from '../team-permissions.js';
import { type ConsoleCall, type ConsoleRoute, consoleRoute } from './console-call.js';
import { judgedPipeline } from './judged-pipeline.js';

interface Noted {
  readonly action: AuditAction;
  readonly secondary: string;
  readonly third?: string;
}

/** Signing keys allow signing, so reading them needs the standard token and the right to change. */
const SIGNING_KEYS = 'v2/keys';
const KV = '/console/api/kv/:id';
const ANSWER: AnswerShape = { kind: 'other', type: 'application/json', description: 'As the data plane answers.' };
const OF_DATABASES = { permission: 'databases:use', answer: ANSWER } as const;
const OF_QUEUES = { permission: 'queues:use', answer: ANSWER } as const;
const OF_INDEXES = { permission: 'indexes:use', answer: ANSWER } as const;
const OTHER_METHODS = ['head', 'post', 'put', 'patch', 'delete'] as const;

export const PLANE_ROUTES: readonly ConsoleRoute[] = [
  consoleRoute(`POST ${KV}`, { ...OF_DATABASES, summary: 'Runs commands.', handle: batchAt('/pipeline') }),
  consoleRoute(`POST ${KV}/pipeline`, { ...OF_DATABASES, summary: 'Runs commands.', handle: batchAt('/pipeline') }),
  consoleRoute(`POST ${KV}/multi-exec`, {
    ...OF_DATABASES,
    summary: 'Runs a transaction.',
    handle: batchAt('/multi-exec'),
  }),
  consoleRoute('GET /console/api/queue/:id/*path', {
    ...OF_QUEUES,
    alsoMethods: OTHER_METHODS,
    summary: 'Calls a queue.',
    handle: callQueue,
  }),
  consoleRoute('GET /console/api/search/:id/*path', {
    ...OF_INDEXES,
    alsoMethods: OTHER_METHODS,
    summary: 'Calls a search index.',
    handle: callIndexOf('search'),
  }),
  consoleRoute('GET /console/api/vector/:id/*path', {
    ...OF_INDEXES,
    alsoMethods: OTHER_METHODS,
    summary: 'Calls an index of vectors.',
    handle: callIndexOf('vector'),
  }),
];

/** @throws Refused 400, 403, 404 */
function batchAt(url: string): ConsoleRoute['handle'] {
  return async (call, { path: { id = '' } }) => {
    const database = databaseIdOfUuid(id);
    if (database === undefined) throw new RefusedRequest(notFound('database'));
    const { changes, token, body } = judgedPipeline(call.body);
    const note: Noted | undefined =
      changes === undefined ? undefined : { action: 'runCommands', secondary: changes.commands, third: changes.key };
    const look = { type: 'GetDatabase', account: call.grant.account, database } as const;
    const { name, secrets } = (await askControl(call.endpoint.parts.control, look, 'OneDatabase')).database;
    if (note !== undefined) mustBeAllowed(call.grant, 'databases:change', id.toLowerCase());
    if (secrets === undefined) throw noTokens('database');
    await noteChange(call, note, name, look, 'OneDatabase');
    const secret = token === 'read-only' ? secrets.readOnlyToken : secrets.standardToken;
    await call.pass('kv', { url, token: secret, body });
  };
}

/** @throws Refused 400, 403, 404 */
async function callQueue(call: ConsoleCall, { path: { id: uuid = '', path = '' } }: { path: PathParts }) {
  const id = accountIdOfUuid(uuid);
  const { grant, endpoint, query, body } = call;
  const mayChange = !grant.isReadOnly && grant.rights.has('queues:change', uuid.toLowerCase());
  const note = isRead(call) ? undefined : ({ action: 'useQueue', secondary: `${methodOf(call)} /${path}` } as const);
  const look = { type: 'ListQueues', account: grant.account } as const;
  const { accounts } = await askControl(endpoint.parts.control, look, 'Accounts');
  const account = accounts.find((each) => each.id === id);
  if (account === undefined) throw new RefusedRequest(notFound('queue'));
  if (note !== undefined) mustBeAllowed(grant, 'queues:change', uuid.toLowerCase());
  await noteChange(call, note, account.name, look, 'Accounts');
  const isLook = note === undefined && (path !== SIGNING_KEYS || !mayChange);
  const token = isLook ? account.readOnlyToken : account.secrets.queueToken;
  if (token === undefined) throw noTokens('queue');
  await call.pass('queue', { url: `/${path}${query}`, token, body });
}

/** @throws Refused 400, 403, 404 */
function callIndexOf(plane: IndexPlane): ConsoleRoute['handle'] {
  return (call, { path: { id = '', path = '' } }) => callIndex(call, plane, id, path);
}

/** @throws Refused 400, 403, 404 */
async function callIndex(call: ConsoleCall, plane: IndexPlane, uuid: string, path: string): Promise<void> {
  const index = databaseIdOfUuid(uuid);
  if (index === undefined) throw new RefusedRequest(notFound('search index'));
  const { grant, endpoint, query, body } = call;
  const [command = '', ...name] = path.split('/');
  const isChange = !isRead(call) && endpoint.parts.changesDocuments(command);
  const note: Noted | undefined = isChange
    ? { action: 'changeDocuments', secondary: command, third: name.join('/') }
    : undefined;
  const look = { type: 'GetSearchIndex', account: grant.account, index } as const;
  const { tokens, name: indexName } = (await askControl(endpoint.parts.control, look, 'OneSearchIndex')).index;
  if (note !== undefined) mustBeAllowed(grant, 'indexes:change', uuid.toLowerCase());
  if (tokens === undefined) throw noTokens('search index');
  await noteChange(call, note, indexName, look, 'OneSearchIndex');
  const token = note === undefined ? tokens.readOnlyToken : tokens.token;
  await call.pass('search', { url: `/${plane}/${uuid}/${path}${query}`, token, body });
}

type Look = Exclude<ControlCommand, { readonly type: 'Audited' }>;

/** @param look the query for the object: it must still exist in the entry with the log line. @throws Refused */
async function noteChange(
  { grant, endpoint, context }: ConsoleCall,
  noted: Noted | undefined,
  entity: string,
  look: Look,
  type: ControlReply['type'],
): Promise<void> {
  if (noted === undefined) return;
  if (grant.isReadOnly) throw new RefusedRequest(MANAGEMENT_REFUSALS.readOnly);
  const { action, secondary, third = '' } = noted;
  const note = {
    actor: grant.email,
    action: auditActionNumber(action),
    source: `CONSOLE - ${grant.keyName}`,
    entity,
    secondaryEntity: secondary,
    thirdEntity: third,
    ip: endpoint.addresses.of(context.req),
    reason: '',
  };
  const { account } = grant;
  await askControl(endpoint.parts.control, { type: 'Audited', account, note, command: look, always: true }, type);
}

function isRead(call: ConsoleCall): boolean {
  return ['GET', 'HEAD'].includes(methodOf(call));
}

function methodOf({ context }: ConsoleCall): string {
  return context.method;
}

/** Tokens of an older release, or tokens set by an operator without storing their text. */
function noTokens(resource: string): RefusedRequest {
  return invalid(`the tokens of this ${resource} are not stored: replace them to use it in the console`);
}
