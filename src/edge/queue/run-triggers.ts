/** Runs started without a workflow client: adds the control headers that a client would have sent. */
import type { HeaderList, PublishItem, RawSettings } from '../../domain/queue/index.js';
import { newRunId } from '../../domain/queue/runs/index.js';
import { bytesOfText } from '../../kernel/index.js';
import { invalid } from '../http/refused.js';
import type { RequestedMessage } from './publish-items.js';
import type { QueueCall } from './queue-call.js';
import { FEATURES, headerValue, runHeadersOf } from './run-headers.js';
import { RUN_ID } from './run-names.js';
import { runItem } from './workflow-items.js';

/** Without the feature that needs a workflow endpoint: these runs require a recent endpoint and tell it so. */
const FEATURE_SET = 'LazyFetch,InitialBody,WF_TriggerOnConfig';
const PROTOCOL_VERSION = '1';

const FORWARD = 'svc-forward-';
const FORWARD_OF_FAILURE = 'svc-failure-callback-forward-';
const CONTROL = 'svc-workflow-';
/** Asks the endpoint to trigger the run itself. */
const UNKNOWN_CLIENT = 'svc-workflow-unknown-sdk';

/** @throws Refused 400, 412 */
export function triggerItem(call: QueueCall, asked: RequestedMessage): PublishItem {
  const { destination, raw } = asked;
  if (destination.kind === 'group') throw invalid('the destination of a workflow must be a url, not a url group');
  const runId = headerValue(raw.headers, RUN_ID) || newRunId(call.endpoint.parts.random);
  const headers: HeaderList = [
    ...raw.headers.filter(([name]) => !name.startsWith(CONTROL) && name !== FEATURES),
    [RUN_ID, bytesOfText(runId)],
    ['svc-workflow-init', 'true'],
    [FEATURES, FEATURE_SET],
    ...addedSettings(raw, destination.url),
  ];
  const run = runHeadersOf(headers);
  if (run === undefined) throw invalid('the workflow run id is empty');
  return runItem(call, { ...asked, raw: { headers, query: raw.query } }, run, { needsRecentClient: true });
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
  const forwarded = given.filter(([name]) => name.startsWith(FORWARD) && !name.startsWith(FORWARD + CONTROL));
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
