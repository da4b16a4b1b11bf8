/** Publishing, and questions about who is subscribed. Nothing of it is journaled. */

import { type CommandSpec, family, type Handler, NO_KEYS } from '../command-spec.js';
import { compileGlob } from '../glob.js';
import { type Reply, SimpleString } from '../reply.js';

/** PUBLISH channel message → how many received it. */
function publish(isSharded: boolean): Handler {
  return ({ args, audience }) => audience.publish(args.bytes(1), args.bytes(2), isSharded);
}

/** PUBSUB CHANNELS [pattern] → channels that somebody is subscribed to by name. */
function channels(isSharded: boolean): Handler {
  return ({ args, audience }) => {
    const found = [...audience.channels(isSharded)];
    if (args.length === 2) return found;
    const glob = compileGlob(args.bytes(2));
    return found.filter((channel) => glob(channel));
  };
}

/** PUBSUB NUMSUB [channel …] → channel, subscribers, channel, subscribers …; a flat list in RESP3 too. */
function subscribers(isSharded: boolean): Handler {
  return ({ args, audience }) => {
    const counts: Reply[] = [];
    for (const channel of args.from(2)) counts.push(channel, audience.subscribersOf(channel, isSharded));
    return counts;
  };
}

/** PUBSUB NUMPAT → how many different patterns somebody is subscribed to. */
const patterns: Handler = ({ audience }) => audience.patternCount;

const help: Handler = () =>
  [
    'PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
    'CHANNELS [<pattern>]',
    '    Return the currently active channels matching a <pattern> (default: all).',
    'NUMPAT',
    '    Return number of subscriptions to patterns.',
    'NUMSUB [<channel> ...]',
    '    Return the number of subscribers for the specified channels, excluding',
    '    pattern subscriptions(default: no channels).',
    'SHARDCHANNELS [<pattern>]',
    '    Return the currently active shard channels matching a <pattern> (default: all).',
    'SHARDNUMSUB [<shardchannel> ...]',
    '    Return the number of subscribers for the specified shard level channel(s)',
    'HELP',
    '    Print this help.',
  ].map((line) => new SimpleString(line));

const told = { flags: ['pubsub', 'loading', 'stale'], keys: NO_KEYS } as const;

export const PUBLISH: readonly CommandSpec[] = family('pubsub', [
  {
    name: 'PUBLISH',
    arity: 3,
    ...told,
    flags: ['pubsub', 'loading', 'stale', 'fast'],
    handler: publish(false),
    channels: 'first',
    countsAsWrite: true,
    since: '2.0.0',
    summary: 'Sends a message to the subscribers of a channel.',
  },
  {
    name: 'SPUBLISH',
    arity: 3,
    ...told,
    flags: ['pubsub', 'loading', 'stale', 'fast'],
    handler: publish(true),
    channels: 'first',
    countsAsWrite: true,
    since: '7.0.0',
    summary: 'Sends a message to the subscribers of a shard channel.',
  },
  {
    name: 'PUBSUB CHANNELS',
    arity: -2,
    ...told,
    handler: channels(false),
    since: '2.8.0',
    summary: 'Lists channels that have subscribers.',
  },
  {
    name: 'PUBSUB SHARDCHANNELS',
    arity: -2,
    ...told,
    handler: channels(true),
    since: '7.0.0',
    summary: 'Lists shard channels that have subscribers.',
  },
  {
    name: 'PUBSUB NUMSUB',
    arity: -2,
    ...told,
    handler: subscribers(false),
    since: '2.8.0',
    summary: 'Counts the subscribers of channels.',
  },
  {
    name: 'PUBSUB SHARDNUMSUB',
    arity: -2,
    ...told,
    handler: subscribers(true),
    since: '7.0.0',
    summary: 'Counts the subscribers of shard channels.',
  },
  {
    name: 'PUBSUB NUMPAT',
    arity: 2,
    ...told,
    handler: patterns,
    since: '2.8.0',
    summary: 'Counts the patterns that have subscribers.',
  },
  {
    name: 'PUBSUB HELP',
    arity: 2,
    flags: ['loading', 'stale'],
    keys: NO_KEYS,
    handler: help,
    categories: [],
    since: '6.2.0',
    summary: 'Describes the subcommands.',
  },
]);
