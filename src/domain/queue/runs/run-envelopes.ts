/**
 * Envelopes of a run's messages: the trigger's settings, and those of the message itself. Equal envelopes share one
 * object, so that values derived from an envelope are computed once.
 *
 *  RE1 the trigger's user headers, retries, flow control, labels and redaction hold for every delivery to the run's
 *      endpoint, and a header of a message replaces the trigger's; a call to a third party has its own headers,
 *      retries and flow control
 *  RE2 headers of the protocol belong to the message that has them: those of the trigger go to the first delivery
 *      only
 */
import { BoundedCache, calledUrl, getOrCreate } from '../../../kernel/index.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList, WorkflowMark } from '../model/records.js';
import type { Run } from '../model/runs/run.js';
import type { RequestedDelivery } from '../model/workflow-commands.js';

const PROTOCOL = 'Svc-Workflow-';
const CONTENT_TYPE = 'Content-Type';
const JSON_TYPE: HeaderList[number] = [CONTENT_TYPE, 'application/json'];
/** Set on behalf of a publisher that does not know the protocol; the endpoint's second trigger has no such header. */
export const UNKNOWN_CLIENT_HEADER = 'Svc-Workflow-Unknown-Sdk';
/** Envelopes kept for one configuration; further ones are rare and made again. */
const MAX_KEPT = 32;

/** For runs whose mark is not known, and for outcomes: the list of entries is always sent, as every endpoint reads it. */
export const NO_MARK: WorkflowMark = {
  detectsTrigger: false,
  needsRecentClient: false,
  canFetch: false,
  isConfiguredByTrigger: true,
};

type Origin = Envelope;
/** The envelope of a run's trigger. */
export interface OfRun {
  readonly shared: { readonly envelope: Envelope };
}
const stepEnvelopes = new WeakMap<Origin, BoundedCache<string, Envelope>>();

/** The envelope of an entry after the first: a record that the endpoint or the server appends. */
export function stepEnvelope(
  { shared: { envelope: origin } }: OfRun,
  { url, settings, mark }: Omit<RequestedDelivery, 'headers'>,
): Envelope {
  if (!mark.isConfiguredByTrigger) {
    return runEnvelope(origin, url, plainly(settings, jsonHeader(settings.header)), mark);
  }
  const own = ownHeader(settings);
  const key = JSON.stringify([url, own, mark]);
  const kept = getOrCreate(stepEnvelopes, origin, () => new BoundedCache(MAX_KEPT));
  return getOrCreate(kept, key, () => {
    const header = [JSON_TYPE, ...userHeaderUnder(own, origin.settings), ...own];
    return runEnvelope(origin, url, plainly(origin.settings, header), mark);
  });
}

/** The envelope for delivering entry 0 again, with all settings of the trigger. */
export function firstEnvelope(run: Run): Envelope {
  return run.shared.envelope;
}

/** The envelope of a call to a third party; it keeps the callback for the call's end. */
export function callEnvelope(run: Run, url: string, settings: DeliverySettings, mark: WorkflowMark): Envelope {
  const { labels, redact } = run.shared.envelope.settings;
  const own = { ...settings, delaySeconds: 0, failureCallback: undefined, labels, redact: settings.redact ?? redact };
  return runEnvelope(run.shared.envelope, url, own, mark);
}

/**
 * The envelope of a call's outcome for the endpoint. It has no protocol version, because that would mark the body as
 * a list of entries.
 */
export function resultEnvelope(origin: Envelope, { url, settings }: CallbackSetting, isConfigured: boolean): Envelope {
  const own = ownHeader(settings);
  const base = isConfigured ? origin.settings : settings;
  const header = [JSON_TYPE, ...userHeaderUnder(own, base), ...own];
  return runEnvelope(origin, url, plainly(base, header), { ...NO_MARK, isConfiguredByTrigger: isConfigured });
}

/** The envelope of the call of the failure function; missing settings come from the run. */
export function failureEnvelope(origin: Envelope, { url, settings }: CallbackSetting): Envelope {
  const { flowControl, retryDelay, labels, redact } = origin.settings;
  const own = {
    ...settings,
    header: jsonHeader(settings.header),
    retryDelay: settings.retryDelay ?? retryDelay,
    flowControl: settings.flowControl ?? flowControl,
    labels,
    redact: redact === undefined ? settings.redact : { ...redact, body: true },
    callback: undefined,
    failureCallback: undefined,
  };
  return runEnvelope(origin, url, own, NO_MARK);
}

/**
 * The settings of the second trigger over those of the first. The endpoint knows the headers that it received but not
 * the retries, so these stay.
 */
export function reconfigured(
  { settings: before, ...rest }: Envelope,
  said: DeliverySettings,
  mark: WorkflowMark,
): Envelope {
  const settings: DeliverySettings = {
    ...said,
    header: said.header.filter(([name]) => name !== UNKNOWN_CLIENT_HEADER),
    maxRetries: before.maxRetries,
    retryDelay: said.retryDelay ?? before.retryDelay,
    timeoutSeconds: said.timeoutSeconds ?? before.timeoutSeconds,
    delaySeconds: 0,
    failureCallback: said.failureCallback ?? before.failureCallback,
    flowControl: said.flowControl ?? before.flowControl,
    labels: said.labels.length > 0 ? said.labels : before.labels,
    redact: said.redact ?? before.redact,
  };
  return { ...rest, settings, workflow: mark };
}

/** Headers of the message without its content type: the body is always JSON. */
function ownHeader({ header }: DeliverySettings): HeaderList {
  return header.filter((pair) => !isContentType(pair));
}

/** Headers of the trigger that the message does not replace. */
function userHeaderUnder(own: HeaderList, { header }: DeliverySettings): HeaderList {
  const replaced = new Set(own.map(([name]) => name));
  return header.filter((pair) => !isOfProtocol(pair) && !isContentType(pair) && !replaced.has(pair[0]));
}

function jsonHeader(header: HeaderList): HeaderList {
  return [JSON_TYPE, ...header.filter((pair) => !isContentType(pair))];
}

function isOfProtocol([name]: HeaderList[number]): boolean {
  return name.startsWith(PROTOCOL);
}

function isContentType([name]: HeaderList[number]): boolean {
  return name === CONTENT_TYPE;
}

function plainly(settings: DeliverySettings, header: HeaderList): DeliverySettings {
  return { ...settings, method: 'POST', header, delaySeconds: 0, callback: undefined, failureCallback: undefined };
}

/** @param origin the trigger's envelope, or the item of the trigger */
export function runEnvelope(
  origin: Pick<Envelope, 'callerIp' | 'isAlias'>,
  url: string,
  settings: DeliverySettings,
  workflow: WorkflowMark,
): Envelope {
  return {
    url: calledUrl(url),
    settings,
    queueName: undefined,
    scheduleId: undefined,
    topicName: undefined,
    endpointName: undefined,
    callerIp: origin.callerIp,
    isAlias: origin.isAlias,
    callbackOf: undefined,
    workflow,
  };
}
