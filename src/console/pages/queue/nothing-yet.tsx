/** An empty list of the queue, with the call that puts something there. */
import type { ComponentChildren } from 'preact';
import { useQueueUrl } from '../../api/queue-url.js';
import { Empty } from '../../parts/states.js';

export interface NothingYetProps {
  readonly title: string;
  /** What a shell gets behind the API's address: `/v2/queues -d '…'` */
  readonly call: string;
  readonly children?: ComponentChildren;
}

export function NothingYet({ title, call, children }: NothingYetProps) {
  const command = `curl -H "Authorization: Bearer $TOKEN" ${useQueueUrl()}${call}`;
  return (
    <Empty title={title} command={command}>
      {children}
    </Empty>
  );
}
