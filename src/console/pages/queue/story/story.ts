/** All that is known of one message, as one call tells it. */
import type { Schemas } from '#api';
import { ofQueue } from '../../../api/call.js';
import type { HeaderObject } from '../../../parts/exchange.js';

export interface Answer {
  /** 0: there was none. */
  readonly responseStatus?: number;
  readonly responseHeader?: HeaderObject;
  readonly responseBody?: string;
  readonly responseBodyBase64?: string;
  readonly error?: string;
}

export interface Attempt extends Answer {
  readonly retried: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly outcome?: string;
  readonly nextDeliveryTime?: number;
}

export interface Story {
  readonly messageId: string;
  readonly state: string;
  readonly isUnderWay: boolean;
  readonly callbackOf?: string;
  readonly nextDeliveryTime?: number;
  readonly message: Schemas['Message'];
  readonly events: readonly {
    readonly time: number;
    readonly state: string;
    readonly nextDeliveryTime?: number;
    readonly error?: string;
  }[];
  readonly attempts: readonly Attempt[];
  readonly callbacks: readonly {
    readonly messageId: string;
    readonly kind: string;
    readonly url: string;
    readonly createdAt: number;
    readonly state: string;
  }[];
  readonly dlq?: Answer & { readonly dlqId: string; readonly failedAt: number };
  /** There is more than the first page of its events. */
  readonly cursor?: string;
}

/** @throws CallError 404 for one that nobody knows (any more) */
export async function storyOf(account: string, id: string): Promise<Story> {
  return (await ofQueue(account, 'GET /v2/messages/{id}/story', { path: { id } })) as unknown as Story;
}
