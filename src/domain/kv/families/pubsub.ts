/** The Pub/Sub family: subscriptions are event streams of their own routes, never plain commands. */
import { type CommandSpec, family } from '../command-spec.js';
import { refusedOverRest } from './refused.js';

export const PUBSUB: readonly CommandSpec[] = family('pubsub', [
  refusedOverRest('SUBSCRIBE', 'other-route', '2.0.0', 'Subscriptions are event streams of /subscribe.'),
  refusedOverRest('PSUBSCRIBE', 'other-route', '2.0.0', 'Subscriptions are event streams of /psubscribe.'),
  refusedOverRest('UNSUBSCRIBE', 'refused', '2.0.0', 'A subscription ends with its request.'),
  refusedOverRest('PUNSUBSCRIBE', 'refused', '2.0.0', 'A subscription ends with its request.'),
]);
