/**
 * Answers of a publish: an object for a URL, a bare list for a group; and headers about the account's daily limit, on
 * a refusal or above the soft limit.
 */
import type { DailyUse, Published, QueueReplyOf } from '../../domain/queue/index.js';

type Result = QueueReplyOf<'Published'>['results'][number];

/** 202: every message is a duplicate. */
export function publishedStatus(result: Result): number {
  return isList(result)
    ? result.length > 0 && result.every(isDuplicate)
      ? 202
      : 200
    : isDuplicate(result)
      ? 202
      : 200;
}

export function publishedJson(result: Result): string {
  return isList(result) ? `[${result.map(messageJson).join(',')}]` : messageJson(result);
}

function messageJson({ messageId, url, isDuplicate: was, run }: Published): string {
  const ofRun = run && `,"workflowRunId":${JSON.stringify(run.runId)},"workflowCreatedAt":${run.createdAtMs}`;
  return `{"messageId":"${messageId}","url":${JSON.stringify(url)}${was ? ',"deduplicated":true' : ''}${ofRun ?? ''}}`;
}

function isDuplicate(published: Published): boolean {
  return published.isDuplicate;
}

function isList(result: Result): result is readonly Published[] {
  return Array.isArray(result);
}

/** Reset is in Unix seconds. No headers without a daily limit: then the account's budget refused. */
export function dailyHeaders({ limit, remaining, resetAtMs }: DailyUse): Record<string, string> {
  if (limit === 0) return {};
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, remaining)),
    'RateLimit-Reset': String(Math.ceil(resetAtMs / 1000)),
  };
}

/** Headers of an accepted publish. */
export function warningHeaders(daily: DailyUse | undefined): Record<string, string> | undefined {
  return daily?.isAboveSoft === true ? dailyHeaders(daily) : undefined;
}
