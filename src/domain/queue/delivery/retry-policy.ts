/**
 * When a failed attempt is made again, and when it is not. What the destination asks for counts first, then the
 * message's own expression, then the backoff that everybody gets.
 */
import { MAX_RETRY_DELAY_MS } from '../limits.js';
import type { DeliverySettings, HeaderList } from '../records.js';
import { resetDelayMs } from './reset-headers.js';
import { retryDelayMs } from './retry-delay.js';

/** The status by which a destination may say that another attempt is of no use. */
const FINAL_REFUSAL_STATUS = 489;
const BACKOFF_EXPONENT = 2.5;

export interface FailedAttempt {
  readonly settings: Pick<DeliverySettings, 'retryDelay'>;
  /** Retries made before the attempt that failed: 0 for the first attempt. */
  readonly retried: number;
  /** It is what the destination sent; undefined: there was no response. */
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

/** Before retry number `retry`: about 12 s, 2½ min, 30 min, 6 h, then a day. */
function backoffMs(retry: number): number {
  return Math.min(MAX_RETRY_DELAY_MS, Math.round(Math.exp(BACKOFF_EXPONENT * retry) * 1000));
}

/**
 * Has the destination refused for good? Both the status and the header are needed.
 * @param nonRetryableNames the header's name in every spelling that counts
 */
export function isFinalRefusal(status: number, header: HeaderList, nonRetryableNames: readonly string[]): boolean {
  if (status !== FINAL_REFUSAL_STATUS) return false;
  const wanted = nonRetryableNames.map((name) => name.toLowerCase());
  return header.some(([name, value]) => wanted.includes(name.toLowerCase()) && value.trim().toLowerCase() === 'true');
}
