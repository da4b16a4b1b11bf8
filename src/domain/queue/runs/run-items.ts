/** Items of a publish that are of a run. */
import { calledUrl } from '../../../kernel/index.js';
import type { PublishItem } from '../commands.js';
import type { WorkflowItem } from './commands.js';
import type { DeliverySettings } from './records.js';

/** Its destination is a URL. */
export interface RunItem extends PublishItem {
  readonly workflow: WorkflowItem;
  /** Of the body, where it was made beforehand. */
  readonly payloadHash?: string;
}

export type TriggerItem = Extract<WorkflowItem, { readonly kind: 'trigger' }>;

export function isRunItem(item: PublishItem): item is RunItem {
  return item.workflow !== undefined;
}

export function urlOf({ destination }: RunItem): { readonly url: string; readonly settings: DeliverySettings } {
  // `runItemRefusal` has let nothing else through.
  const { url, settings } = destination as Extract<PublishItem['destination'], { kind: 'url' }>;
  return { url: calledUrl(url), settings };
}
