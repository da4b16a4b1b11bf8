/**
 * Events of applications: one message for each endpoint that takes the event. The owner accepts all or none, and
 * recognises a repeated event by its id for the time of deduplication.
 */
import {
  type Application,
  type ApplicationEndpoint,
  type DeliverySettings,
  MAX_LABELS,
  type ParsedSettings,
  type PublishItem,
} from '../../../domain/queue/index.js';
import { compileFilter } from '../../../domain/search/index.js';
import type { MessageId } from '../../../kernel/index.js';
import { invalid } from '../../http/refused.js';
import { rawSettingsOf } from '../call-words.js';
import { refuseForbidden, settingsOf } from '../publish-items.js';
import type { QueueCall } from '../queue-call.js';
import { publishItems } from '../trial-requests.js';

/** An event as it is sent. */
export interface SentEvent {
  /** The `webhook-id`. */
  readonly id: string;
  readonly eventType: string;
  readonly body: Uint8Array;
  /** A repeated id is refused as a duplicate. */
  readonly isIdempotent: boolean;
  /** A further label: `replay` or `test`. */
  readonly label?: string | undefined;
}

export interface SentMessage {
  readonly endpointId: string;
  readonly messageId: MessageId;
  readonly deduplicated: true | undefined;
}

/** Labels of messages, by which the log and the DLQ find them. */
export const labelOfEndpoint = (id: string) => `endpoint=${id}`;
export const labelOfEvent = (id: string) => `event=${id}`;
const labelOfType = (name: string) => `type=${name}`;
export const REPLAYED = 'replay';

/** Whether the endpoint takes the event: by its state, its list of types, and its filter. */
export function takes(endpoint: ApplicationEndpoint, eventType: string, payload: unknown): boolean {
  const { isDisabled, eventTypes, filter } = endpoint;
  if (isDisabled || (eventTypes.length > 0 && !eventTypes.includes(eventType))) return false;
  const passes = compileFilter(filter);
  // A filter is about members, so it never takes a payload that is not an object.
  if (passes === undefined) return true;
  return (
    typeof payload === 'object' && payload !== null && !Array.isArray(payload) && passes({ content: payload as never })
  );
}

/** Options of the call's headers, such as `Svc-Retries`. @throws Refused 400 */
export function optionsOf(call: QueueCall): ParsedSettings {
  return settingsOf(call, rawSettingsOf(call.words, false), 'publish', { refuses: 'callbacks' });
}

/** The message of an event for one endpoint. @throws Refused 400 for an address that is forbidden now */
export function messageFor(
  call: QueueCall,
  { application, endpoint }: { readonly application: Application; readonly endpoint: ApplicationEndpoint },
  event: SentEvent,
  options: Pick<ParsedSettings, 'settings' | 'notBeforeMs'>,
): PublishItem {
  const { id, eventType, body, isIdempotent, label } = event;
  const { url } = endpoint;
  refuseForbidden(call, 'endpoint', url);
  const own = [labelOfEndpoint(endpoint.id), labelOfEvent(id), labelOfType(eventType), ...(label ? [label] : [])];
  const labels = [...new Set([...own, ...options.settings.labels])];
  if (labels.length > MAX_LABELS) throw invalid(`an event has at most ${MAX_LABELS - own.length} labels`);
  const { rate } = application;
  const settings: DeliverySettings = {
    ...options.settings,
    method: 'POST',
    header: [['Content-Type', 'application/json'], ...endpoint.header],
    labels,
    flowControl: rate && { key: application.id, parallelism: undefined, ...rate },
  };
  return {
    id: call.newMessageId(),
    destination: { kind: 'url', url, settings },
    queueName: undefined,
    body,
    notBeforeMs: options.notBeforeMs,
    deduplication: isIdempotent ? { id: `${application.id} ${endpoint.id} ${id}` } : undefined,
    callerIp: call.callerIp,
    isAlias: call.words.isAlias,
    webhook: { application: application.id, endpoint: endpoint.id, id, eventType },
  };
}

/** Publishes the messages, all or none. @throws Refused; errors of the gateway */
export async function sent(call: QueueCall, items: readonly PublishItem[]): Promise<readonly SentMessage[]> {
  if (items.length === 0) return [];
  const { results } = await publishItems(call, items);
  return results.flat().map(({ messageId, isDuplicate }, at) => ({
    endpointId: items[at]?.webhook?.endpoint ?? '',
    messageId,
    deduplicated: isDuplicate || undefined,
  }));
}
