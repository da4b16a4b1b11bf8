/** One connection as CLIENT LIST and CLIENT INFO show it, with Redis's names. What it takes in memory is estimated. */
import type { RespClient } from '../resp-client.js';

/** A connection with nothing in it: the socket, its buffers, and what is known of it. */
const IDLE_CONNECTION_BYTES = 20 * 1024;

export function clientLine(client: RespClient): string {
  return clientFields(client)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

export function clientFields(client: RespClient): readonly (readonly [name: string, value: string | number])[] {
  const { link, tracking, transaction } = client;
  const nowMs = client.face.parts.clock.monotonicMs();
  return [
    ['id', client.id],
    ['addr', client.address],
    ['laddr', client.localAddress],
    ['fd', client.id],
    ['name', client.name],
    ['age', Math.floor((nowMs - client.createdAtMs) / 1000)],
    ['idle', Math.floor((nowMs - client.lastAtMs) / 1000)],
    ['flags', flagsOf(client)],
    ['db', 0],
    ['sub', client.subscriptionCount('channel')],
    ['psub', client.subscriptionCount('pattern')],
    ['ssub', client.subscriptionCount('shard-channel')],
    ['multi', transaction?.queued.length ?? -1],
    ['watch', client.watches.reduce((count, { keys }) => count + keys.length, 0)],
    ['qbuf', link.inputBytes],
    ['qbuf-free', 0],
    ['argv-mem', link.requestBytes],
    ['multi-mem', transaction?.bytes ?? 0],
    ['rbs', 0],
    ['rbp', 0],
    ['obl', 0],
    ['oll', 0],
    ['omem', link.outputBytes],
    ['tot-mem', IDLE_CONNECTION_BYTES + link.heldBytes],
    ['events', 'r'],
    ['cmd', client.lastCommand === 'NULL' ? 'NULL' : client.lastCommand.toLowerCase().replace(' ', '|')],
    ['user', client.user],
    ['redir', tracking === undefined ? -1 : (tracking.redirect ?? 0)],
    ['resp', client.protocol],
    ['lib-name', client.libraryName],
    ['lib-ver', client.libraryVersion],
  ];
}

function flagsOf(client: RespClient): string {
  const { tracking } = client;
  let flags = '';
  if (client.isMonitor) flags += 'O';
  if (client.isSubscriber) flags += 'P';
  if (client.transaction !== undefined) flags += 'x';
  if (client.blocked !== undefined || client.letGo !== undefined) flags += 'b';
  if (tracking !== undefined) flags += 't';
  if (tracking?.isRedirectBroken === true) flags += 'R';
  if (tracking?.isBroadcast === true) flags += 'B';
  if (client.isNoEvict) flags += 'e';
  if (client.isNoTouch) flags += 'T';
  return flags === '' ? 'N' : flags;
}
