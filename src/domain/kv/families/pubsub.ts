/**
 * The Pub/Sub family: over REST subscriptions are event streams of their own routes, never plain commands; over
 * the native protocol they belong to the connection.
 */
import { type CommandFlag, type CommandSpec, family } from '../command-spec.js';
import { type ConnectionRow, connectionRow } from './connection-row.js';

const FLAGS: readonly CommandFlag[] = ['pubsub', 'noscript', 'loading', 'stale'];

function subscription(
  name: string,
  since: string,
  summary: string,
  more: Partial<ConnectionRow> = {},
): Omit<CommandSpec, 'family'> {
  const arity = name.includes('UNSUB') ? -1 : -2;
  return connectionRow({ name, arity, flags: FLAGS, since, summary, mayFollowSubscribe: true, ...more });
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
