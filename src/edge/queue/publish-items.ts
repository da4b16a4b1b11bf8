/**
 * Converts the messages of a call into items for the account's owner: validates destination and configuration, and
 * assigns ids. All messages are validated before the first is published.
 */
import {
  type CallbackSetting,
  type DeliverySettings,
  type ParsedSettings,
  type PublishDestination,
  type PublishItem,
  parseSettings,
  type RawSettings,
  type SettingsContext,
} from '../../domain/queue/index.js';
import { beyondQuota } from '../error-map.js';
import type { LargeDocument } from '../http/large-json.js';
import { type HeaderWords, invalid, RefusedRequest } from '../http/refused.js';
import { destinationOf, type MessageDestination } from './destination.js';
import { withTrace } from './message-trace.js';
import type { QueueCall } from './queue-call.js';

export interface RequestedMessage {
  readonly destination: MessageDestination;
  readonly raw: RawSettings;
  readonly of: SettingsContext['of'];
  readonly queueName: string | undefined;
  readonly body: Uint8Array;
  readonly isAlias: boolean;
  /** Spellings of its headers, if they are in the call's body. */
  readonly words?: HeaderWords;
  /** The parsed body, if it was read early. */
  readonly record?: LargeDocument;
}

/** @throws Refused 400 */
export function publishItem(call: QueueCall, asked: RequestedMessage): PublishItem {
  const { destination, queueName, body, isAlias } = asked;
  const raw = withTrace(asked.raw, call.request.trace);
  // For a group, its defaults may configure the callback, so options are refused here.
  const refuses = destination.kind === 'group' ? 'options' : 'callbacks';
  const parsed = settingsOf(call, raw, asked.of, { refuses });
  return {
    id: call.newMessageId(),
    destination: checkedDestination(call, destination, parsed.settings, raw),
    queueName,
    body,
    notBeforeMs: parsed.notBeforeMs,
    deduplication: parsed.deduplication,
    callerIp: call.callerIp,
    isAlias,
  };
}

/** @throws Refused 400; 412 for a message of a run above the account's limits */
export function settingsOf(
  call: QueueCall,
  raw: RawSettings,
  of: SettingsContext['of'],
  how: Pick<SettingsContext, 'isOfRun' | 'refuses'>,
): ParsedSettings {
  const { limits } = call.grant.terms;
  const { isOfRun = false } = how;
  const { clock, formatLevel } = call.endpoint.parts;
  const outcome = parseSettings(raw, { limits, nowMs: clock.nowMs(), formatLevel: formatLevel(), of, ...how });
  if (!outcome.isOk && outcome.isQuota && isOfRun) throw new RefusedRequest(beyondQuota(outcome.message));
  if (!outcome.isOk) throw invalid(outcome.message);
  refuseCallbacks(call, outcome.parsed.settings);
  return outcome.parsed;
}

/** A group's settings are validated again with its defaults. @throws Refused 400 */
export function checkedDestination(
  call: QueueCall,
  destination: MessageDestination,
  settings: DeliverySettings,
  raw: RawSettings,
): PublishDestination {
  if (destination.kind === 'group') return { kind: 'group', name: destination.name, raw };
  refuseForbidden(call, 'destination', destination.url);
  return { kind: 'url', url: destination.url, settings };
}

/** Callbacks may have callbacks. */
function refuseCallbacks(call: QueueCall, { callback, failureCallback }: DeliverySettings): void {
  if (callback !== undefined) refuseCallback(call, 'callback', callback);
  if (failureCallback !== undefined) refuseCallback(call, 'failure callback', failureCallback);
}

function refuseCallback(call: QueueCall, role: string, { url, settings }: CallbackSetting): void {
  refuseForbidden(call, role, url);
  refuseCallbacks(call, settings);
}

/** @throws Refused 400 for a forbidden address */
export function refuseForbidden(call: QueueCall, role: string, url: string): void {
  const reason = call.endpoint.parts.destinations.refusalOf(url);
  if (reason !== undefined) throw invalid(`invalid ${role} url: ${reason}`);
}

/** @throws Refused 400 for a text that is no URL, and for an address that deliveries may not call */
export function refuseNotUrl(call: QueueCall, url: string): void {
  if (destinationOf(url).kind === 'group') throw invalid('notifyUrl: must begin with http:// or https://');
  refuseForbidden(call, 'notifyUrl', url);
}
