/** The application that a path names, and an endpoint of it. */
import type { Application, ApplicationEndpoint, EventType, QueueReplyOf } from '../../../domain/queue/index.js';
import { APPLICATIONS_FORMAT_LEVEL, CUSTOMER_MAILS_FORMAT_LEVEL } from '../../../kernel/index.js';
import type { PortalMark } from '../../../ports/index.js';
import { notFound, QUEUE_REFUSALS } from '../../error-map.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import type { PathParts } from '../../http/route.js';
import { expected, type QueueCall } from '../queue-call.js';
import { isRevoked } from './portal-links.js';

const UNCHANGED = {
  url: undefined,
  description: undefined,
  eventTypes: undefined,
  filter: undefined,
  header: undefined,
};

export interface KnownApplication {
  readonly application: Application;
  readonly endpoints: readonly ApplicationEndpoint[];
  /** Undefined: there is no such type. */
  readonly eventType: EventType | undefined;
  /** Of the endpoints with failures. Undefined: none. */
  readonly breakers?: QueueReplyOf<'Application'>['breakers'];
}

/** @throws Refused 404 */
export function applicationIn(call: QueueCall, { id = '' }: PathParts, eventType?: string): Promise<KnownApplication> {
  return call.ask({ type: 'GetApplication', id, eventType }, 'Application');
}

/** @throws Refused 404 */
export async function endpointIn(
  call: QueueCall,
  path: PathParts,
  eventType?: string,
): Promise<KnownApplication & { readonly endpoint: ApplicationEndpoint }> {
  const known = await applicationIn(call, path, eventType);
  const endpoint = known.endpoints.find(({ id }) => id === path.endpoint);
  if (endpoint === undefined) throw new RefusedRequest(notFound(`endpoint ${path.endpoint}`));
  return { ...known, endpoint };
}

/** PTL4 (a revoked link opens no route). @throws Refused 401, 404 */
export async function refuseRevoked(call: QueueCall, portal: PortalMark): Promise<void> {
  const { application } = await applicationIn(call, { id: portal.application });
  if (isRevoked(portal, application)) throw new RefusedRequest(QUEUE_REFUSALS.unauthorized);
}

type EndpointBreaker = NonNullable<KnownApplication['breakers']>[number];

export function breakerOf(
  breakers: readonly EndpointBreaker[],
  { id }: Pick<ApplicationEndpoint, 'id'>,
): EndpointBreaker | undefined {
  return breakers.find(({ endpoint }) => endpoint === id);
}

/** Makes the endpoint get messages again. @throws Refused 403 for a customer if the account's owner has disabled it */
export async function enabled(
  call: QueueCall,
  { id = '', endpoint = '' }: PathParts,
  { isDisabled, breaker }: { readonly isDisabled: boolean; readonly breaker: EndpointBreaker | undefined },
): Promise<void> {
  const isByOwner = breaker?.state === 'disabled' && breaker.reason === 'request';
  if (call.grant.portal !== undefined && isByOwner) throw new RefusedRequest(QUEUE_REFUSALS.stoppedBySender);
  if (isDisabled) {
    const changes = { application: id, id: endpoint, isNew: false, isDisabled: false, secrets: [], ...UNCHANGED };
    await call.ask({ type: 'SetApplicationEndpoint', ...changes }, 'Application');
  }
  if (breaker === undefined) return;
  const command = { type: 'SetBreaker', url: breaker.url, isDisabled: false } as const;
  const reply = await call.endpoint.parts.gateway.ask(call.grant.account, command, call.request.trace);
  // A success has closed it since.
  if (reply.type !== 'Rejected' || reply.reason !== 'NOT_FOUND') expected(reply, 'Done');
}

/** @throws Refused 400 without a mail server, and while processes of an earlier release may deliver messages */
export function refuseNoMail(call: QueueCall): void {
  const { hasMail, formatLevel } = call.endpoint.parts;
  if (!hasMail) throw invalid('email: no mail server is set (MILLRACE_SMTP_URL)');
  if (formatLevel() >= CUSTOMER_MAILS_FORMAT_LEVEL) return;
  throw invalid(`email needs format level ${CUSTOMER_MAILS_FORMAT_LEVEL}: run millrace cluster upgrade`);
}

/** Processes of an earlier release cannot read applications. @throws Refused 400 */
export function refuseEarlyLevel(call: QueueCall): void {
  if (call.endpoint.parts.formatLevel() >= APPLICATIONS_FORMAT_LEVEL) return;
  throw invalid(`applications need format level ${APPLICATIONS_FORMAT_LEVEL}: run millrace cluster upgrade`);
}
