/** Headers of a run that is started without a workflow client: the control headers that a client would have sent. */
import { bytesOfText, textOfHeader } from '../../../../kernel/index.js';
import type { HeaderList, RawSettings, WorkflowMark } from '../records.js';
import { RUN_ID } from '../run-ids.js';

export const FEATURES = 'svc-feature-set';
/** Without the feature that needs a workflow endpoint: these runs require a recent endpoint and tell it so. */
const FEATURE_SET = 'LazyFetch,InitialBody,WF_TriggerOnConfig';
/** The mark of these features. */
export const TRIGGER_MARK: WorkflowMark = {
  detectsTrigger: false,
  needsRecentClient: true,
  canFetch: true,
  isConfiguredByTrigger: true,
};
const PROTOCOL_VERSION = '1';

const FORWARD = 'svc-forward-';
const FORWARD_OF_FAILURE = 'svc-failure-callback-forward-';
export const RUN_CONTROL = 'svc-workflow-';
/** Asks the endpoint to trigger the run itself. */
const UNKNOWN_CLIENT = 'svc-workflow-unknown-sdk';

/** The value as trimmed text. */
export function headerValue(headers: HeaderList, wanted: string): string | undefined {
  for (const [name, value] of headers) if (name === wanted) return textOfHeader(value).trim();
  return undefined;
}

/** @param raw of the call that starts the run */
export function triggerHeaders(raw: RawSettings, url: string, runId: string): HeaderList {
  return [
    ...raw.headers.filter(([name]) => !name.startsWith(RUN_CONTROL) && name !== FEATURES),
    [RUN_ID, bytesOfText(runId)],
    ['svc-workflow-init', 'true'],
    [FEATURES, FEATURE_SET],
    ...addedSettings(raw, url),
  ];
}

/** Settings that the call does not give in headers or query. */
function addedSettings({ headers, query }: RawSettings, url: string): HeaderList {
  const given = [...query, ...headers].filter(([, value]) => value.trim() !== '');
  const names = new Set(given.map(([name]) => name));
  const added: (readonly [string, string])[] = [];
  const add = (name: string, value: string) => {
    if (!names.has(name)) added.push([name, value]);
  };
  const labels = headerValue(given, 'svc-label');
  const label = labels && bytesOfText(labels);
  const forwarded = given.filter(([name]) => name.startsWith(FORWARD) && !name.startsWith(FORWARD + RUN_CONTROL));
  add('content-type', 'application/json');
  add(`${FORWARD}svc-workflow-sdk-version`, PROTOCOL_VERSION);
  if (headerValue(headers, UNKNOWN_CLIENT) !== undefined) add(FORWARD + UNKNOWN_CLIENT, 'true');
  if (label !== undefined) add(`${FORWARD}svc-label`, label);
  // The failure function is by default at the workflow's own URL, and is called with the workflow's headers.
  add('svc-failure-callback', bytesOfText(url));
  add(`${FORWARD_OF_FAILURE}svc-workflow-is-failure`, 'true');
  add(`${FORWARD_OF_FAILURE}svc-workflow-failure-callback`, 'true');
  if (label !== undefined) add(`${FORWARD_OF_FAILURE}svc-label`, label);
  for (const [name, value] of forwarded) add(FORWARD_OF_FAILURE + name.slice(FORWARD.length), value);
  return added;
}

/** Endpoints pass these on with their own request's headers. No code here decodes a coding. */
const CODINGS = ['svc-forward-accept-encoding', 'svc-failure-callback-forward-accept-encoding'];

/** The headers of a message of a run without codings, with which a failure could not be read. */
export function withoutCodings(headers: HeaderList): HeaderList {
  const isCoding = ([name]: HeaderList[number]) => CODINGS.includes(name);
  return headers.some(isCoding) ? headers.filter((pair) => !isCoding(pair)) : headers;
}

/** The payload of a run is delivered in a list with the results of steps, so it cannot have a content coding. */
export function codingProblem(headers: HeaderList): string | undefined {
  const isEncoded = headers.some(
    ([name, value]) => name === 'content-encoding' && !['', 'identity'].includes(value.trim().toLowerCase()),
  );
  if (!isEncoded) return undefined;
  return 'content-encoding is not allowed for a message of a workflow: send its body uncompressed';
}
