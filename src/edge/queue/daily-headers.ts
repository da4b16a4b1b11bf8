/** What an account is told of its day, on a refusal or above its soft limit. */
import type { DailyUse } from '../../domain/queue/index.js';

/** Reset is in Unix seconds. None for an account without a daily limit: its budget refuses it. */
export function dailyHeaders({ limit, remaining, resetAtMs }: DailyUse): Record<string, string> {
  if (limit === 0) return {};
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, remaining)),
    'RateLimit-Reset': String(Math.ceil(resetAtMs / 1000)),
  };
}

/** Headers of a publish that was taken. */
export function warningHeaders(daily: DailyUse | undefined): Record<string, string> | undefined {
  return daily?.isAboveSoft === true ? dailyHeaders(daily) : undefined;
}
