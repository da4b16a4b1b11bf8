/** Details of listed messages that only the log has: attempts, their durations, the beginning of the body. */
import type { Schemas } from '#api';
import { ofQueue } from '../../../api/call.js';
import { beginningOf, textOf } from '../../../api/kv.js';

export type AttemptOutcome = 'running' | 'delivered' | 'failed' | 'cancelled';

export interface MessageDetails {
  /** The outcome of each attempt, the earliest first. */
  readonly attempts: readonly AttemptOutcome[];
  readonly maxRetries: number;
  /** Of the last attempt that has ended. */
  readonly tookMs: number | undefined;
  readonly nextMs: number | undefined;
  /** The beginning of the body in one line; undefined: no body. */
  readonly body: string | undefined;
}

/** Bytes of each body that lists load. */
export const SHOWN_BODY_BYTES = 240;

/**
 * Without details of a message if its creation is no longer in the log. Also without any after an error, because the
 * list itself does not depend on them.
 */
export async function detailsOf(
  account: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, MessageDetails>> {
  if (ids.length === 0) return new Map();
  const query = { messageIds: ids.join(','), groupBy: 'messageId', count: ids.length, trimBody: SHOWN_BODY_BYTES };
  try {
    const page = (await ofQueue(account, 'GET /v2/logs', { query, signal })) as Schemas['LoggedMessagePage'];
    return new Map(page.messages.map((message) => [message.messageId, detailsIn(message)]));
  } catch {
    return new Map();
  }
}

const OUTCOMES: Readonly<Record<string, AttemptOutcome>> = {
  DELIVERED: 'delivered',
  ERROR: 'failed',
  CANCELED: 'cancelled',
};

/** @param message with its events as the log lists them, the latest first */
export function detailsIn(message: Schemas['LoggedMessage']): MessageDetails {
  const attempts: AttemptOutcome[] = [];
  let startedMs = 0;
  let tookMs: number | undefined;
  for (const { state, time } of message.events.toReversed()) {
    const outcome = OUTCOMES[state];
    const isRunning = attempts.at(-1) === 'running';
    if (state === 'ACTIVE') {
      // After a crash, the same attempt starts once more.
      if (!isRunning) attempts.push('running');
      startedMs = time;
    } else if (isRunning && outcome !== undefined) {
      attempts[attempts.length - 1] = outcome;
      tookMs = time - startedMs;
    }
  }
  const [newest] = message.events;
  return {
    attempts,
    maxRetries: message.maxRetries,
    tookMs,
    nextMs: newest?.nextDeliveryTime || undefined,
    body: lineOf(message.body),
  };
}

const HIDDEN = /^REDACTED:/;

function lineOf(base64: string | undefined): string | undefined {
  if (base64 === undefined || base64 === '') return undefined;
  if (HIDDEN.test(base64)) return '(hidden)';
  const bytes = atob(base64);
  const text = textOf(beginningOf(bytes, bytes.length));
  return text === undefined ? '(binary)' : text.replaceAll(/\s+/g, ' ').trim();
}
