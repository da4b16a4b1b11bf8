/** Parts that several records share: headers as objects, bodies as text or base64, redaction applied. */
import { isUtf8 } from 'node:buffer';
import { type DeliverySettings, type HeaderList, redactedBody, redactedHeader } from '../../domain/queue/index.js';
import type { Spelling } from '../wire-alias.js';

/** Without a prototype: callers name headers as they like. */
export type HeaderObject = Record<string, string[]>;

export function headerObject(header: HeaderList, spelling: Spelling): HeaderObject {
  const byName: HeaderObject = Object.create(null);
  for (const [name, value] of header) {
    const spelled = spelling.headerName(name);
    const values = byName[spelled];
    if (values === undefined) byName[spelled] = [value];
    else values.push(value);
  }
  return byName;
}

/** The headers that a message carries, as its record shows them. */
export function messageHeader({ header, redact }: DeliverySettings, spelling: Spelling): HeaderObject {
  return headerObject(redactedHeader(header, redact), spelling);
}

/** Nothing for an empty body. */
export function messageBody(
  body: Uint8Array | undefined,
  { redact }: DeliverySettings,
): { body?: string; bodyBase64?: string } {
  if (body === undefined || body.byteLength === 0) return {};
  const redacted = redactedBody(body, redact);
  if (redacted !== undefined) return { body: redacted };
  return isUtf8(body) ? { body: bytes(body).toString('utf8') } : { bodyBase64: base64(body) };
}

export function base64(body: Uint8Array): string {
  return bytes(body).toString('base64');
}

export function bytes(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** What an object has only when there is something. */
export function unlessEmpty(header: HeaderObject): HeaderObject | undefined {
  for (const _ in header) return header;
  return undefined;
}

/** Members that messages, events and schedules have alike. */
export function settingsMembers(settings: DeliverySettings) {
  const { labels, flowControl, callback, failureCallback, retryDelay } = settings;
  return {
    callback: callback?.url,
    failureCallback: failureCallback?.url,
    label: labels[0],
    labels: labels.length === 0 ? undefined : labels,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    // There with any flow control: a published client insists.
    period: flowControl?.periodSeconds,
    retryDelayExpression: retryDelay,
  };
}

/** Headers for the callbacks, under the names that the record at hand has for them. */
export function callbackHeaders({ callback, failureCallback, redact }: DeliverySettings, spelling: Spelling) {
  const shown = (header: HeaderList | undefined) =>
    header === undefined ? undefined : unlessEmpty(headerObject(redactedHeader(header, redact), spelling));
  return { ofCallback: shown(callback?.settings.header), ofFailureCallback: shown(failureCallback?.settings.header) };
}

/** Both spellings of one member: records and clients differ. */
export function callerMembers(callerIp: string): { callerIP?: string; callerIp?: string } {
  return callerIp === '' ? {} : { callerIP: callerIp, callerIp };
}
