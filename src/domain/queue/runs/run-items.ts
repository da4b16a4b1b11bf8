/** Items of a publish that belong to a run. */
import { calledUrl } from '../../../kernel/index.js';
import type { PublishItem } from '../model/commands.js';
import type { DeliverySettings } from '../model/run-records.js';
import type { WorkflowItem } from '../model/workflow-commands.js';

/** The destination is a URL. */
export interface RunItem extends PublishItem {
  readonly workflow: WorkflowItem;
  /** The hash of the body, if it was computed before. */
  readonly payloadHash?: string;
}

export type TriggerItem = Extract<WorkflowItem, { readonly kind: 'trigger' }>;

export function isRunItem(item: PublishItem): item is RunItem {
  return item.workflow !== undefined;
}

export function urlOf({ destination }: RunItem): { readonly url: string; readonly settings: DeliverySettings } {
  // `runItemRefusal` refuses other destinations.
  const { url, settings } = destination as Extract<PublishItem['destination'], { kind: 'url' }>;
  return { url: calledUrl(url), settings };
}
