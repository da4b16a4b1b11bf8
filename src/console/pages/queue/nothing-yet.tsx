/** An empty list of the queue, with an API call that creates an item. */
import type { ComponentChildren } from 'preact';
import { useQueueUrl } from '../../api/queue-url.js';
import { Empty } from '../../parts/states.js';
import { TOKEN_VARIABLE, URL_VARIABLE } from './publish/curl.js';

export interface NothingYetProps {
  readonly title: string;
  /** The call after the API's address: `/v2/queues -d '…'` */
  readonly call: string;
  readonly children?: ComponentChildren;
}

export function NothingYet({ title, call, children }: NothingYetProps) {
  const command = `curl -H "Authorization: Bearer ${TOKEN_VARIABLE}" ${useQueueUrl() ?? URL_VARIABLE}${call}`;
  return (
    <Empty title={title} command={command}>
      {children}
    </Empty>
  );
}
