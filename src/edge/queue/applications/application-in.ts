/** The application that a path names, and an endpoint of it. */
import type { Application, ApplicationEndpoint, EventType } from '../../../domain/queue/index.js';
import { APPLICATIONS_FORMAT_LEVEL } from '../../../kernel/index.js';
import { notFound } from '../../error-map.js';
import { invalid, RefusedRequest } from '../../http/refused.js';
import type { PathParts } from '../../http/route.js';
import type { QueueCall } from '../queue-call.js';

export interface KnownApplication {
  readonly application: Application;
  readonly endpoints: readonly ApplicationEndpoint[];
  /** Undefined: there is no such type. */
  readonly eventType: EventType | undefined;
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

/** Processes of an earlier release cannot read applications. @throws Refused 400 */
export function refuseEarlyLevel(call: QueueCall): void {
  if (call.endpoint.parts.formatLevel() >= APPLICATIONS_FORMAT_LEVEL) return;
  throw invalid(`applications need format level ${APPLICATIONS_FORMAT_LEVEL}: run millrace cluster upgrade`);
}
