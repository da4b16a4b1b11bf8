/**
 * The Pub/Sub family. Over REST, subscriptions are event streams with separate routes, never plain commands; over RESP
 * they belong to the connection.
 */

import type { CommandFlag } from '../command-description.js';
import type { CommandSpec } from '../command-spec.js';
import { connectionRow } from './connection-row.js';
import { family, type Row } from './rows.js';

const FLAGS: readonly CommandFlag[] = ['pubsub', 'noscript', 'loading', 'stale'];

function subscription(name: string, since: string, summary: string, more: Partial<Row> = {}): Row {
  const arity = name.includes('UNSUB') ? -1 : -2;
  return connectionRow(name, arity, since, summary, { flags: FLAGS, mayFollowSubscribe: true, ...more });
}

export const PUBSUB: readonly CommandSpec[] = family('pubsub', [
  subscription('SUBSCRIBE', '2.0.0', 'Listens to channels.', { channels: 'all', rest: 'other-route' }),
  subscription('PSUBSCRIBE', '2.0.0', 'Subscribes to the channels with names that match patterns.', {
    channels: 'patterns',
    rest: 'other-route',
  }),
  subscription('SSUBSCRIBE', '7.0.0', 'Listens to sharded channels.', { channels: 'all' }),
  subscription('UNSUBSCRIBE', '2.0.0', 'Stops listening to channels.'),
  subscription('PUNSUBSCRIBE', '2.0.0', 'Stops listening to patterns.'),
  subscription('SUNSUBSCRIBE', '7.0.0', 'Stops listening to sharded channels.'),
]);
