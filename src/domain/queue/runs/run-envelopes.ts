/**
 * The messages of a run are delivered with the trigger's settings, and with what is its own of the message that asks
 * for them. Envelopes of equal content are one object, so that what is worked out for one is there for all.
 *
 *  RE1 user headers, retries, flow control, labels and redaction of the trigger hold for every delivery to the run's
 *      endpoint, and a header that a message brings itself replaces the trigger's; a call to a third party has its own
 *      headers, retries and flow control
 *  RE2 headers of the protocol belong to the message that brings them: those of the trigger to the first delivery alone
 */
import { calledUrl, obtain, Remembered } from '../../../kernel/index.js';
import type { CallbackSetting, DeliverySettings, Envelope, HeaderList, WorkflowMark } from '../records.js';
import type { AskedDelivery } from './commands.js';
import type { Run } from './run.js';

const PROTOCOL = 'Svc-Workflow-';
const CONTENT_TYPE = 'Content-Type';
const JSON_TYPE: HeaderList[number] = [CONTENT_TYPE, 'application/json'];
/** Set by the endpoint's side when it does not know who triggers: the second trigger is without it. */
export const UNKNOWN_CLIENT_HEADER = 'Svc-Workflow-Unknown-Sdk';
/** So many are kept of one run's configuration; more are rare, and made again. */
const MAX_KEPT = 32;

const NO_MARK: WorkflowMark = {
  detectsTrigger: false,
  needsRecentClient: false,
  canFetch: false,
  isConfiguredByTrigger: true,
};

type Origin = Envelope;
const stepEnvelopes = new WeakMap<Origin, Remembered<string, Envelope>>();

/** The delivery of an entry behind the first: of a record that the endpoint or the server appends. */
export function stepEnvelope(run: Run, { url, settings, mark }: Omit<AskedDelivery, 'headers'>): Envelope {
  const origin = run.shared.envelope;
  if (!mark.isConfiguredByTrigger) {
    return runEnvelope(origin, url, plainly(settings, jsonHeader(settings.header)), mark);
  }
  const own = ownHeader(settings);
  const key = JSON.stringify([url, own, mark]);
  const kept = obtain(stepEnvelopes, origin, () => new Remembered(MAX_KEPT));
  return obtain(kept, key, () => {
    const header = [JSON_TYPE, ...userHeaderUnder(own, origin.settings), ...own];
    return runEnvelope(origin, url, plainly(origin.settings, header), mark);
  });
}

/** The first delivery once more: entry 0 with all that the trigger said. */
export function firstEnvelope(run: Run): Envelope {
  return run.shared.envelope;
}

/** The call to a third party; its callback stays in it, for when it has come to its end. */
export function callEnvelope(run: Run, url: string, settings: DeliverySettings, mark: WorkflowMark): Envelope {
  const { labels, redact } = run.shared.envelope.settings;
  const own = { ...settings, delaySeconds: 0, failureCallback: undefined, labels, redact: settings.redact ?? redact };
  return runEnvelope(run.shared.envelope, url, own, mark);
}

/** The call's outcome, to the endpoint. The protocol's version stays out: it would say that the body is a list. */
export function resultEnvelope(origin: Envelope, { url, settings }: CallbackSetting, isConfigured: boolean): Envelope {
  const own = ownHeader(settings);
  const base = isConfigured ? origin.settings : settings;
  const header = [JSON_TYPE, ...userHeaderUnder(own, base), ...own];
  return runEnvelope(origin, url, plainly(base, header), { ...NO_MARK, isConfiguredByTrigger: isConfigured });
}

/** The message to the failure function; what it does not say itself is as the run has it. */
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
 * What the second trigger of a client that was not known says, over the first one's. It comes from the endpoint, which
 * knows the headers that it was sent and nothing of retries: those stay as they are.
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

/** What a message says itself; its body is JSON, whatever it says. */
function ownHeader({ header }: DeliverySettings): HeaderList {
  return header.filter((pair) => !isContentType(pair));
}

/** The trigger's, but for what the message says otherwise. */
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

/** @param origin where it comes from: the trigger's envelope, or the trigger itself */
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
