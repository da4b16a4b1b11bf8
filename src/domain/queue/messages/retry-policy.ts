/**
 * Decides whether and when a failed attempt is repeated. The delay is the one the destination asks for, else the
 * message's expression, else the default backoff.
 */
import { MAX_RETRY_DELAY_MS } from '../model/limits.js';
import type { DeliverySettings, HeaderList } from '../model/records.js';
import { retryDelayMs } from '../model/settings/retry-delay.js';
import { resetDelayMs } from './reset-headers.js';

/** The status by which a destination refuses further attempts. */
const FINAL_REFUSAL_STATUS = 489;
const BACKOFF_EXPONENT = 2.5;

export interface FailedAttempt {
  readonly settings: Pick<DeliverySettings, 'retryDelay'>;
  /** Retries before the failed attempt: 0 for the first attempt. */
  readonly retried: number;
  /** Headers of the response; undefined: there was no response. */
  readonly header: HeaderList | undefined;
  readonly nowMs: number;
}

/** @returns whole milliseconds, 0 … `MAX_RETRY_DELAY_MS` */
export function nextDelayMs(attempt: FailedAttempt): number {
  const { settings, retried, header, nowMs } = attempt;
  const asked = header === undefined ? undefined : resetDelayMs(header, nowMs);
  if (asked !== undefined) return asked;
  const own = settings.retryDelay === undefined ? undefined : retryDelayMs(settings.retryDelay, retried);
  return own ?? backoffMs(retried + 1);
}

/** Delay before retry number `retry`: about 12 s, 2½ min, 30 min, 6 h, then a day. */
function backoffMs(retry: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, Math.round(Math.exp(BACKOFF_EXPONENT * retry) * 1000));
}

/**
 * Whether the destination refuses further attempts: that takes both the status and the header.
 * @param nonRetryableNames the header's name in each accepted spelling
 */
export function isFinalRefusal(status: number, header: HeaderList, nonRetryableNames: readonly string[]): boolean {
  if (status !== FINAL_REFUSAL_STATUS) return false;
  const wanted = nonRetryableNames.map((name) => name.toLowerCase());
  return header.some(([name, value]) => wanted.includes(name.toLowerCase()) && value.trim().toLowerCase() === 'true');
}
