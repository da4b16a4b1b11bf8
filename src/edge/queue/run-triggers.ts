/** Runs started without a workflow client. */
import { headerValue, type PublishItem, triggerHeaders } from '../../domain/queue/index.js';
import { newRunId, RUN_ID } from '../../domain/queue/runs/index.js';
import { invalid } from '../http/refused.js';
import type { RequestedMessage } from './publish-items.js';
import type { QueueCall } from './queue-call.js';
import { runHeadersOf } from './run-headers.js';
import { runItem } from './workflow-items.js';

/** @throws Refused 400, 412 */
export function triggerItem(call: QueueCall, asked: RequestedMessage): PublishItem {
  const { destination, raw } = asked;
  if (destination.kind === 'group') throw invalid('the destination of a workflow must be a url, not a url group');
  const runId = headerValue(raw.headers, RUN_ID) || newRunId(call.endpoint.parts.random);
  const headers = triggerHeaders(raw, destination.url, runId);
  const run = runHeadersOf(headers);
  if (run === undefined) throw invalid('the workflow run id is empty');
  return runItem(call, { ...asked, raw: { headers, query: raw.query } }, run, { needsRecentClient: true });
}
