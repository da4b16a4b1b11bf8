/**
 * Webhooks of workflows: third parties call a URL that a run gave them, with any method and without a token, and the
 * run is notified. The URL names the account (by the user of its token), the run, and the event.
 */
import type { TLSSocket } from 'node:tls';
import { canonicalHeaderName } from '../../domain/queue/index.js';
import { type RunId, readUrl, textOfHeader } from '../../kernel/index.js';
import type { QueueGrant } from '../../ports/index.js';
import { QUEUE_REFUSALS, SHARED_REFUSALS } from '../error-map.js';
import type { HttpRequest } from '../http/exchange.js';
import { invalid, RefusedRequest } from '../http/refused.js';
import { decodedName } from './destination.js';
import type { QueueCall } from './queue-call.js';
import type { QueueEndpoint } from './queue-endpoint.js';
import { BASE64_SLICE_BYTES } from './queue-limits.js';
import { eventIdInPath, runIdInPath } from './run-names.js';

export const HOOKS = '/v2/workflows/hooks/';

export interface Hook {
  readonly userId: string;
  readonly runId: RunId;
  readonly eventId: string;
}

/** Methods that cannot be used for a repeated request. */
const UNREPEATABLE: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT']);
const ALLOWED = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** @throws Refused 404 */
export function hookIn(path: string): Hook {
  const [userId = '', runId = '', ...rest] = path.slice(HOOKS.length).split('/');
  const event = rest.join('/');
  if (userId === '' || runId === '' || event === '') throw new RefusedRequest(QUEUE_REFUSALS.hookNotFound);
  return { userId: decodedName(userId), runId: runIdInPath(runId), eventId: eventIdInPath(event) };
}

/** @throws Refused 404 */
export function grantForHook(endpoint: QueueEndpoint, { userId }: Hook): QueueGrant {
  const grant = endpoint.parts.access.grantForQueueUser(userId);
  if (grant === undefined) throw new RefusedRequest(QUEUE_REFUSALS.hookNotFound);
  return grant;
}

/** @throws Refused 403, 405 */
export function mustBeOpen({ grant, request }: QueueCall): void {
  if (grant.terms.state === 'passive') throw new RefusedRequest(QUEUE_REFUSALS.suspended);
  if (UNREPEATABLE.has(request.method as string)) {
    throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: ALLOWED });
  }
}

/** Calls that arrive early are kept for the run. @throws Refused 404 for an ended or unknown run */
export async function notifyOfHook(call: QueueCall, { runId, eventId }: Hook): Promise<void> {
  const firstId = call.newMessageId();
  const content = await eventOf(call);
  await call.ask({ type: 'Notify', eventId, runId, firstId, content, isHook: true }, 'Notified');
  call.done();
}

/** The request as JSON, for the run to repeat; a large body is encoded in slices. */
async function eventOf({ endpoint, request, rawHeaders, body }: QueueCall): Promise<Buffer> {
  const header: Record<string, string[]> = Object.create(null);
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = canonicalHeaderName(rawHeaders[at] as string);
    const value = textOfHeader(rawHeaders[at + 1] as string);
    const values = header[name];
    if (values === undefined) header[name] = [value];
    else values.push(value);
  }
  const url = calledUrl(endpoint, request);
  const { method } = request;
  if (body.length === 0) return Buffer.from(JSON.stringify({ method, header, ...url }));
  const pieces = [Buffer.from(`${JSON.stringify({ method, header }).slice(0, -1)},"body":"`)];
  for (let from = 0; from < body.length; from += BASE64_SLICE_BYTES) {
    if (from > 0) await endpoint.yieldToEventLoop();
    pieces.push(Buffer.from(body.toString('base64', from, from + BASE64_SLICE_BYTES), 'latin1'));
  }
  pieces.push(Buffer.from(`",${JSON.stringify(url).slice(1)}`));
  return Buffer.concat(pieces);
}

/** The called URL in parts. @throws Refused 400 if they do not form a URL */
function calledUrl(endpoint: QueueEndpoint, request: HttpRequest) {
  const { proto, host, prefix } = addressOf(endpoint, request);
  const url = prefix + pathAndQuery(request.url as string);
  // An invalid host would fail the run because of a third party.
  if (readUrl(`${proto}://${host}${url}`) === undefined) throw invalid('the host is not valid');
  return { proto, host, url };
}

/** The address of this endpoint without a path, as the caller or the operator names it. @throws Refused 400 */
export function ownAddress(endpoint: QueueEndpoint, request: HttpRequest): string {
  const { proto, host, prefix } = addressOf(endpoint, request);
  return `${proto}://${host}${prefix}`;
}

/** @throws Refused 400 for an invalid host */
function addressOf({ addresses, parts }: QueueEndpoint, request: HttpRequest) {
  if (parts.publicUrl !== undefined) {
    const { protocol, host, pathname } = new URL(parts.publicUrl);
    return { proto: protocol.slice(0, -1), host, prefix: pathname.replace(/\/$/, '') };
  }
  const isHandedOn = addresses.isHandedOn(request);
  const proto = (isHandedOn && protocolIn(first(request.headers['x-forwarded-proto']))) || ownProtocol(request.socket);
  const called = (isHandedOn && first(request.headers['x-forwarded-host'])) || request.headers.host || 'localhost';
  const host = textOfHeader(called);
  if (/[/?#@\\]/.test(host) || readUrl(`${proto}://${host}/`) === undefined) throw invalid('the host is not valid');
  return { proto, host, prefix: '' };
}

function ownProtocol(socket: object): string {
  return (socket as TLSSocket).encrypted === true ? 'https' : 'http';
}

function protocolIn(text: string | undefined): string | undefined {
  const protocol = text?.toLowerCase();
  return protocol === 'http' || protocol === 'https' ? protocol : undefined;
}

/** The value of the outermost proxy. */
function first(value: string | string[] | undefined): string | undefined {
  return String(value ?? '')
    .split(',', 1)[0]
    ?.trim();
}

/** Proxies may send the whole URL. */
function pathAndQuery(target: string): string {
  return target.slice(target.indexOf(HOOKS));
}
