/**
 * `/console/api/kv/<database>`, `/console/api/queue/<account>/<path>` and `/console/api/search/<index>/<path>`:
 * forwards a page's requests to the data planes inside this process, with the rights of the page's session.
 *
 *  CPL1 no token of a data plane reaches a page: it is opened here and given only to the data plane
 *  CPL2 a request without a line in the audit log cannot change data: it has the read-only token or the checked form
 *       (JPI1: newly serialised). The line is stored before the request is sent
 *  CPL3 a read-only key, or a role without the right to databases, changes no data here either
 */
import {
  type AuditAction,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
  type SealedSecret,
} from '../../domain/control/index.js';
import type { ManagementControl, ManagementGrant } from '../../ports/index.js';
import { accountIdOfUuid, databaseIdOfUuid } from '../../protocol/index.js';
import { askControl } from '../control-asking.js';
import { MANAGEMENT_REFUSALS, notFound, SHARED_REFUSALS } from '../error-map.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { judgedPipeline } from './judged-pipeline.js';

/** Target and content of a forwarded request. */
export interface Passed {
  readonly plane: 'kv' | 'queue' | 'search';
  /** As the data plane expects it. */
  readonly url: string;
  readonly token: SealedSecret;
  readonly body: Buffer;
}

/** A page's request to a data plane. */
export interface PlaneAsk {
  readonly control: ManagementControl;
  readonly grant: ManagementGrant;
  readonly ip: string;
  readonly method: string;
  /** The part after the plane's name: `<id>/<path>`. */
  readonly rest: string;
  /** With its question mark, or ''. */
  readonly query: string;
  readonly body: Buffer;
  changesDocuments(command: string): boolean;
}

interface Noted {
  readonly action: AuditAction;
  readonly secondary: string;
  readonly third?: string;
}

/** Signing keys allow signing, so reading them needs the standard token and the right to change. */
const SIGNING_KEYS = '/v2/keys';
const BATCHES: ReadonlySet<string> = new Set(['', '/pipeline', '/multi-exec']);

/** @throws Refused 400, 403, 404, 405 */
export async function passedToKv(ask: PlaneAsk): Promise<Passed> {
  const [uuid, path] = splitOf(ask.rest);
  if (!BATCHES.has(path)) throw new RefusedRequest(SHARED_REFUSALS.routeNotFound);
  if (ask.method !== 'POST') throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: 'POST' });
  const database = databaseIdOfUuid(uuid);
  if (database === undefined) throw new RefusedRequest(notFound('database'));
  const { changes, token, body } = judgedPipeline(ask.body);
  const note: Noted | undefined =
    changes === undefined ? undefined : { action: 'runCommands', secondary: changes.commands, third: changes.key };
  const look = { type: 'GetDatabase', account: ask.grant.account, database } as const;
  const { name, secrets } = (await askControl(ask.control, look, 'OneDatabase')).database;
  if (secrets === undefined) throw noTokens('database');
  await noteChange(ask, note, name, look, 'OneDatabase');
  const secret = token === 'read-only' ? secrets.readOnlyToken : secrets.standardToken;
  return { plane: 'kv', url: path === '' ? '/pipeline' : path, token: secret, body };
}

/** @throws Refused 400, 403, 404 */
export async function passedToQueue(ask: PlaneAsk): Promise<Passed> {
  const [uuid, path] = splitOf(ask.rest);
  const id = accountIdOfUuid(uuid);
  const note = isRead(ask) ? undefined : ({ action: 'useQueue', secondary: `${ask.method} ${path}` } as const);
  const look = { type: 'ListQueues', account: ask.grant.account } as const;
  const { accounts } = await askControl(ask.control, look, 'Accounts');
  const account = accounts.find((each) => each.id === id);
  if (account === undefined) throw new RefusedRequest(notFound('queue'));
  await noteChange(ask, note, account.name, look, 'Accounts');
  const isLook = note === undefined && (path !== SIGNING_KEYS || ask.grant.isReadOnly);
  const token = isLook ? account.readOnlyToken : account.secrets.queueToken;
  if (token === undefined) throw noTokens('queue');
  return { plane: 'queue', url: `${path}${ask.query}`, token, body: ask.body };
}

/** @throws Refused 400, 403, 404 */
export async function passedToSearch(ask: PlaneAsk): Promise<Passed> {
  const [uuid, path] = splitOf(ask.rest);
  const index = databaseIdOfUuid(uuid);
  if (index === undefined) throw new RefusedRequest(notFound('search index'));
  const [, command = '', ...name] = path.split('/');
  const isChange = !isRead(ask) && ask.changesDocuments(command);
  const note: Noted | undefined = isChange
    ? { action: 'changeDocuments', secondary: command, third: name.join('/') }
    : undefined;
  const look = { type: 'GetSearchIndex', account: ask.grant.account, index } as const;
  const { tokens, name: indexName } = (await askControl(ask.control, look, 'OneSearchIndex')).index;
  if (tokens === undefined) throw noTokens('search index');
  await noteChange(ask, note, indexName, look, 'OneSearchIndex');
  const token = note === undefined ? tokens.readOnlyToken : tokens.token;
  return { plane: 'search', url: `/search/${uuid}${path}${ask.query}`, token, body: ask.body };
}

type Look = Exclude<ControlCommand, { readonly type: 'Audited' }>;

/** @param look the query for the object: it must still exist in the entry with the log line. @throws Refused */
async function noteChange(
  { control, grant, ip }: PlaneAsk,
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
    ip,
    reason: '',
  };
  await askControl(control, { type: 'Audited', account: grant.account, note, command: look, always: true }, type);
}

function isRead({ method }: PlaneAsk): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The id, and the rest of the path with its slash. */
function splitOf(rest: string): [uuid: string, path: string] {
  const slash = rest.indexOf('/');
  return slash < 0 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash)];
}

/** Tokens of an older release, or tokens set by an operator without storing their text. */
function noTokens(what: string): RefusedRequest {
  return invalid(`the tokens of this ${what} are not stored: replace them to use it in the console`);
}
