/** A connection as CLIENT LIST and CLIENT INFO show it, with Redis's names. Its memory is an estimate. */
import type { ClientState } from '../client-state.js';

/** An empty connection: the socket, its buffers and its state. */
const IDLE_CONNECTION_BYTES = 20 * 1024;

export function clientLine(client: ClientState): string {
  return clientFields(client)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

export function clientFields(client: ClientState): readonly (readonly [name: string, value: string | number])[] {
  const { link, tracking, transaction } = client;
  const nowMs = client.endpoint.parts.clock.monotonicMs();
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

function flagsOf(client: ClientState): string {
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
