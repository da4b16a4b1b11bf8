/**
 * The Pub/Sub family: over REST subscriptions are event streams of their own routes, never plain commands; over
 * the native protocol they belong to the connection.
 */
import type { CommandFlag, CommandSpec } from '../command-spec.js';
import { connectionRow } from './connection-row.js';
import { family, type Row } from './rows.js';

const FLAGS: readonly CommandFlag[] = ['pubsub', 'noscript', 'loading', 'stale'];

function subscription(name: string, since: string, summary: string, more: Partial<Row> = {}): Row {
  const arity = name.includes('UNSUB') ? -1 : -2;
  return connectionRow(name, arity, since, summary, { flags: FLAGS, mayFollowSubscribe: true, ...more });
}

export const PUBSUB: readonly CommandSpec[] = family('pubsub', [
  subscription('SUBSCRIBE', '2.0.0', 'Listens to channels.', { channels: 'all', rest: 'other-route' }),
  subscription('PSUBSCRIBE', '2.0.0', 'Listens to channels whose names match patterns.', {
    channels: 'patterns',
    rest: 'other-route',
  }),
  subscription('SSUBSCRIBE', '7.0.0', 'Listens to sharded channels.', { channels: 'all' }),
  subscription('UNSUBSCRIBE', '2.0.0', 'Stops listening to channels.'),
  subscription('PUNSUBSCRIBE', '2.0.0', 'Stops listening to patterns.'),
  subscription('SUNSUBSCRIBE', '7.0.0', 'Stops listening to sharded channels.'),
]);
