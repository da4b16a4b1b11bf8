/** Sends a draft. */
import type { Schemas } from '#api';
import { ofQueue } from '../../../api/call.js';
import type { DraftCall } from './draft.js';

export type Published = Schemas['Published'] | readonly Schemas['Published'][];

/** @returns a list for a group. @throws CallError */
export async function publish(account: string, call: DraftCall): Promise<Published> {
  const options = optionsOf(call);
  const queue = /^\/v2\/enqueue\/([^/]+)\//.exec(call.place)?.[1];
  const path = { destination: call.destination, queue: decodeURIComponent(queue ?? '') };
  return queue === undefined
    ? ofQueue(account, 'POST /v2/publish/{destination}', { ...options, path })
    : ofQueue(account, 'POST /v2/enqueue/{queue}/{destination}', { ...options, path });
}

/** @throws CallError */
export function setSchedule(account: string, call: DraftCall): Promise<Schemas['ScheduleSet']> {
  // The OpenAPI document calls this path parameter `id`, as in the other calls of schedules.
  const path = { id: call.destination };
  return ofQueue(account, 'POST /v2/schedules/{id}', { ...optionsOf(call), path });
}

function optionsOf({ headers, query, body }: DraftCall) {
  const words: Record<string, string[]> = {};
  for (const [name, value] of query) {
    words[name] ??= [];
    words[name].push(value);
  }
  return { headers: Object.fromEntries(headers), query: words, ...(body !== undefined && { body }) };
}
