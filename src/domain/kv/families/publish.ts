/** Publishing, and queries about subscriptions. None of it is journaled. */

import { NO_KEYS } from '../command-description.js';
import type { CommandSpec, Handler } from '../command-spec.js';
import { compileGlob } from '../glob.js';
import type { Reply } from '../reply.js';
import { family, helpRow, row } from './rows.js';

/** PUBLISH channel message → the number of receivers. */
function publish(isSharded: boolean): Handler {
  return ({ args, audience }) => audience.publish(args.bytes(1), args.bytes(2), isSharded);
}

/** PUBSUB CHANNELS [pattern] → channels with at least one subscriber by name. */
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

/** PUBSUB NUMPAT → the number of different patterns with a subscriber. */
const patterns: Handler = ({ audience }) => audience.patternCount;

const HELP = [
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
];

const told = { flags: ['pubsub', 'loading', 'stale'], keys: NO_KEYS } as const;

const sends = {
  flags: ['pubsub', 'loading', 'stale', 'fast'],
  keys: NO_KEYS,
  channels: 'first',
  countsAsWrite: true,
} as const;

export const PUBLISH: readonly CommandSpec[] = family('pubsub', [
  row('PUBLISH', 3, '2.0.0', 'Sends a message to the subscribers of a channel.', { ...sends, handler: publish(false) }),
  row('SPUBLISH', 3, '7.0.0', 'Sends a message to the subscribers of a shard channel.', {
    ...sends,
    handler: publish(true),
  }),
  row('PUBSUB CHANNELS', -2, '2.8.0', 'Lists channels that have subscribers.', {
    isLook: true,
    ...told,
    handler: channels(false),
  }),
  row('PUBSUB SHARDCHANNELS', -2, '7.0.0', 'Lists shard channels that have subscribers.', {
    ...told,
    handler: channels(true),
  }),
  row('PUBSUB NUMSUB', -2, '2.8.0', 'Counts the subscribers of channels.', {
    isLook: true,
    ...told,
    handler: subscribers(false),
  }),
  row('PUBSUB SHARDNUMSUB', -2, '7.0.0', 'Counts the subscribers of shard channels.', {
    ...told,
    handler: subscribers(true),
  }),
  row('PUBSUB NUMPAT', 2, '2.8.0', 'Counts the patterns that have subscribers.', {
    isLook: true,
    ...told,
    handler: patterns,
  }),
  helpRow('PUBSUB', '6.2.0', HELP, { categories: [] }),
]);
