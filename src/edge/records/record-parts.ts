/** Parts of several records: headers as objects, bodies as text or base64, with redaction. */
import { isUtf8 } from 'node:buffer';
import {
  type DeliverySettings,
  type HeaderList,
  isResponseCut,
  redactedBody,
  redactedHeader,
} from '../../domain/queue/index.js';
import { bufferOver, textOfHeader } from '../../kernel/index.js';
import type { Spelling } from '../wire-alias.js';

/** Without a prototype, because callers choose the names of headers. */
export type HeaderObject = Record<string, string[]>;

export function headerObject(header: HeaderList, spelling: Spelling): HeaderObject {
  const byName: HeaderObject = Object.create(null);
  for (const [name, bytes] of header) {
    const spelled = spelling.headerName(name);
    const value = textOfHeader(bytes);
    const values = byName[spelled];
    if (values === undefined) byName[spelled] = [value];
    else values.push(value);
  }
  return byName;
}

/** A message's headers in its record. */
export function messageHeader({ header, redact }: DeliverySettings, spelling: Spelling): HeaderObject {
  return headerObject(redactedHeader(header, redact), spelling);
}

/** No members for an empty body. */
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
  return bufferOver(body);
}

/** Only a part of the body is shown. */
export type Cut = boolean | undefined;

/** True for an answer that is shown or stored only in part; otherwise the record has no such member. */
export function responseTruncated(response: {
  readonly header: HeaderList;
  readonly body: Uint8Array | undefined;
  readonly isCut?: Cut;
}): true | undefined {
  const { header, body, isCut } = response;
  return isCut === true || (body !== undefined && isResponseCut(header, body)) || undefined;
}

/** Undefined for an empty object. */
export function unlessEmpty(header: HeaderObject): HeaderObject | undefined {
  for (const _ in header) return header;
  return undefined;
}

/** Members that messages, events and schedules share. */
export function settingsMembers(settings: DeliverySettings) {
  const { labels, flowControl, callback, failureCallback, retryDelay, priority, whenStopped } = settings;
  return {
    callback: callback?.url,
    failureCallback: failureCallback?.url,
    label: labels[0],
    labels: labels.length === 0 ? undefined : labels,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    // Present with any flow control, as a published client requires.
    period: flowControl?.periodSeconds,
    retryDelayExpression: retryDelay,
    priority,
    whenStopped,
  };
}

/** Headers for the callbacks, in the spelling of the record. */
export function callbackHeaders({ callback, failureCallback, redact }: DeliverySettings, spelling: Spelling) {
  const shown = (header: HeaderList | undefined) =>
    header === undefined ? undefined : unlessEmpty(headerObject(redactedHeader(header, redact), spelling));
  return { ofCallback: shown(callback?.settings.header), ofFailureCallback: shown(failureCallback?.settings.header) };
}

/** Both spellings of one member: records and clients use either. */
export function callerMembers(callerIp: string): { callerIP?: string; callerIp?: string } {
  return callerIp === '' ? {} : { callerIP: callerIp, callerIp };
}
