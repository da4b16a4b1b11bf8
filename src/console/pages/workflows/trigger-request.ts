/** The API call for the form of a new run. */
import { signal } from '@preact/signals';
import { ofQueue } from '../../api/call.js';
import { callOf, type Draft, type DraftCall, type HeaderRow } from '../queue/publish/draft.js';

/** @throws Error for an invalid header line */
export function triggerCall(draft: Draft, runId: string, headerLines: string): DraftCall {
  const call = callOf({ ...draft, headers: signal(rowsOf(headerLines)) });
  const id = runId.trim();
  const headers = id === '' ? call.headers : [['Svc-Workflow-RunId', id] as const, ...call.headers];
  return { ...call, place: '/v2/trigger/', headers };
}

/** `Name: value`, one per line. */
function rowsOf(lines: string): readonly HeaderRow[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`This is no header, "Name: value": ${line}`);
      return { name, value };
    });
}

export function trigger(account: string, { destination, headers, query, body }: DraftCall) {
  return ofQueue(account, 'POST /v2/trigger/{destination}', {
    path: { destination },
    query: Object.fromEntries(query),
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  });
}
