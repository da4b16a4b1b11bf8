/** What a publish answers: an object for a URL, a bare array for a group, whichever call asked. */
import type { Published, QueueReplyOf } from '../../domain/queue/index.js';

type Result = QueueReplyOf<'Published'>['results'][number];

/** 202 tells that nothing new was accepted. */
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
