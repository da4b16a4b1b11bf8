/**
 * The Connection, Pub/Sub and Transactions families. Over REST there is no lasting connection: only PING and ECHO work,
 * and subscriptions and transactions have separate routes.
 */

import { type CommandFlag, NO_KEYS, span } from '../command-description.js';
import type { CommandSpec, Handler } from '../command-spec.js';
import { SimpleString, wrongArity } from '../reply.js';
import { connectionRow } from './connection-row.js';
import { EVERY_NODE, EVERY_SHARD, family, type Row, row } from './rows.js';

const PONG = new SimpleString('PONG');

/** PING [message] → PONG, or the message. */
const ping: Handler = ({ args }) => {
  if (args.length > 2) throw wrongArity('ping');
  return args.length === 2 ? args.bytes(1) : PONG;
};

/** ECHO message → the message. */
const echo: Handler = ({ args }) => args.bytes(1);

/** Allowed before AUTH. */
const OPEN: readonly CommandFlag[] = ['noscript', 'loading', 'stale', 'fast', 'noauth'];
const OWN: readonly CommandFlag[] = ['noscript', 'loading', 'stale'];
const OTHERS: readonly CommandFlag[] = ['admin', 'dangerous', 'noscript', 'loading', 'stale'];

const OF_THIS_PROCESS = 'Knows the connections of one process: those to the same database and the same address.';

function client(
  subcommand: string,
  arity: number,
  since: string,
  summary: string,
  columns: Pick<Row, 'flags'> & Partial<Row>,
): Row {
  return connectionRow(`CLIENT ${subcommand}`, arity, since, summary, columns);
}

export const CONNECTION: readonly CommandSpec[] = family('connection', [
  row('PING', -1, '1.0.0', 'Returns PONG, or its argument.', {
    tips: EVERY_SHARD,
    flags: ['fast', 'edge'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: ping,
    mayFollowSubscribe: true,
  }),
  row('ECHO', 2, '1.0.0', 'Returns its argument.', {
    flags: ['fast', 'edge', 'loading', 'stale'],
    readOnlyToken: true,
    keys: NO_KEYS,
    handler: echo,
  }),
  connectionRow('AUTH', -2, '1.0.0', 'Signs the connection in, with a password or as a user.', {
    flags: [...OPEN, 'skip-monitor'],
    deviations: ['The password alone finds the database; users of another database are `<database-id>/<user>`.'],
  }),
  connectionRow('HELLO', -1, '6.0.0', 'Agrees on a protocol version, and may sign in.', {
    flags: [...OPEN, 'skip-monitor'],
  }),
  connectionRow('QUIT', -1, '1.0.0', 'Ends the connection.', { flags: OPEN, mayFollowSubscribe: true }),
  connectionRow('RESET', 1, '6.2.0', 'Resets the connection to its initial state.', {
    flags: OPEN,
    mayFollowSubscribe: true,
  }),
  connectionRow('SELECT', 2, '1.0.0', 'Accepts database 0, the only one.', {
    flags: ['loading', 'stale', 'fast'],
    deviations: [
      'There is only database 0: a connection that selects another one is refused everything until it selects 0.',
    ],
  }),
  client('CACHING', 3, '6.0.0', 'Says whether the next command is tracked, in OPTIN and OPTOUT mode.', { flags: OWN }),
  client('GETNAME', 2, '2.6.9', 'Returns the name of the connection.', { flags: OWN }),
  client('GETREDIR', 2, '6.0.0', 'Returns which connection invalidations are sent to.', { flags: OWN }),
  client('HELP', 2, '5.0.0', 'Lists the subcommands.', { flags: ['loading', 'stale'] }),
  client('ID', 2, '5.0.0', 'Returns the number of the connection.', { flags: OWN }),
  client('INFO', 2, '6.2.0', 'Describes the connection.', {
    flags: [...OWN, 'random'],
    tips: ['nondeterministic_output'],
  }),
  client('KILL', -3, '2.4.0', 'Ends connections.', { flags: OTHERS, deviations: [OF_THIS_PROCESS] }),
  client('LIST', -2, '2.4.0', 'Describes the connections to the database.', {
    flags: [...OTHERS, 'random'],
    isLook: true,
    tips: ['nondeterministic_output'],
    deviations: [OF_THIS_PROCESS, 'Fields about memory are estimates.'],
  }),
  client('NO-EVICT', 3, '7.0.0', 'Accepted; no connection is ended to save memory.', { flags: OTHERS }),
  client('NO-TOUCH', 3, '7.2.0', 'Says whether the connection leaves the time of last use of keys alone.', {
    flags: OWN,
    deviations: ['Accepted; reads count as uses.'],
  }),
  client('PAUSE', -3, '3.0.0', 'Holds up commands of the connections to the database for a time.', {
    flags: OTHERS,
    deviations: [
      OF_THIS_PROCESS,
      'Commands about the connection itself are never held up, and a write in a transaction with its EXEC.',
    ],
  }),
  client('REPLY', 3, '3.2.0', 'Says whether commands are answered.', { flags: OWN }),
  client('SETINFO', 4, '7.2.0', 'Notes the name or version of the client library.', { flags: OWN, tips: EVERY_NODE }),
  client('SETNAME', 3, '2.6.9', 'Names the connection.', { flags: OWN, tips: EVERY_NODE }),
  client('TRACKING', -3, '6.0.0', 'Turns notices about changed keys that were read on or off.', { flags: OWN }),
  client('TRACKINGINFO', 2, '6.2.0', 'Describes the key tracking of the connection.', { flags: OWN }),
  client('UNBLOCK', -3, '5.0.0', 'Ends the wait of another connection.', {
    flags: OTHERS,
    deviations: [OF_THIS_PROCESS],
  }),
  client('UNPAUSE', 2, '6.2.0', 'Lets held up commands run.', { flags: OTHERS, deviations: [OF_THIS_PROCESS] }),
]);

/** Subscriptions: event streams over REST; over RESP they belong to the connection. */
const PUBSUB_FLAGS: readonly CommandFlag[] = ['pubsub', 'noscript', 'loading', 'stale'];

function subscription(name: string, since: string, summary: string, more: Partial<Row> = {}): Row {
  const arity = name.includes('UNSUB') ? -1 : -2;
  return connectionRow(name, arity, since, summary, { flags: PUBSUB_FLAGS, mayFollowSubscribe: true, ...more });
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

/** A REST transaction is one request to `/multi-exec`. */
const TRANSACTION_FLAGS: readonly CommandFlag[] = ['noscript', 'loading', 'stale', 'fast'];

export const TRANSACTIONS: readonly CommandSpec[] = family('transactions', [
  connectionRow('MULTI', 1, '1.2.0', 'Begins a transaction: further commands are queued.', {
    flags: TRANSACTION_FLAGS,
    rest: 'other-route',
  }),
  connectionRow('EXEC', 1, '1.2.0', 'Runs the queued commands in one step.', {
    flags: ['noscript', 'loading', 'stale', 'skip-slowlog'],
    rest: 'other-route',
  }),
  connectionRow('DISCARD', 1, '2.0.0', 'Discards the queued commands.', { flags: TRANSACTION_FLAGS }),
  connectionRow('WATCH', -2, '2.2.0', 'Makes EXEC run no commands if a key has changed.', {
    keyUse: ['RO'],
    flags: TRANSACTION_FLAGS,
    keys: span(1, -1, 1, 'read'),
    deviations: ['After a change of owner EXEC runs no commands, even if no key has changed.'],
  }),
  connectionRow('UNWATCH', 1, '2.2.0', 'Forgets the watched keys.', { flags: TRANSACTION_FLAGS }),
]);
