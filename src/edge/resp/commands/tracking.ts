/** CLIENT TRACKING and related commands: invalidation messages to clients that cache keys. */
import { ERRORS, ErrorReply, MapReply, OK, type Reply, SetReply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import type { KvGrant } from '../../../ports/index.js';
import { namesBytes, type Tracking } from '../client-state.js';
import { endUnlessAllowed } from '../listening-rights.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import type { ConnectionCommand } from './connection-command.js';
import { clientId } from './words.js';

/** Each change is compared with every prefix. */
const MAX_PREFIXES = 1_000;

interface Options {
  redirect: number | undefined;
  isBroadcast: boolean;
  isOptIn: boolean;
  isOptOut: boolean;
  isNoLoop: boolean;
  readonly prefixes: ByteString[];
}

/** CLIENT TRACKING ON | OFF [REDIRECT id] [BCAST] [PREFIX prefix …] [OPTIN] [OPTOUT] [NOLOOP] → OK. */
function track(client: RespClient, words: readonly ByteString[]): Reply | Promise<Reply> {
  const options = readOptions(client, words);
  if (options instanceof ErrorReply) return options;
  const how = (words[2] as ByteString).toUpperCase();
  if (how === 'OFF') {
    stopTracking(client);
    return OK;
  }
  if (how !== 'ON') return ERRORS.syntax;
  const problem = problemOf(options, client.tracking);
  if (problem !== undefined) return problem;
  return client.link.mayHold(namesBytes(options.prefixes)) ? startTracking(client, options) : NO_MEMORY;
}

function readOptions(client: RespClient, words: readonly ByteString[]): Options | ErrorReply {
  const options: Options = {
    redirect: undefined,
    isBroadcast: false,
    isOptIn: false,
    isOptOut: false,
    isNoLoop: false,
    prefixes: [],
  };
  for (let at = 3; at < words.length; at += 1) {
    const option = (words[at] as ByteString).toUpperCase();
    const hasMore = at + 1 < words.length;
    if (option === 'REDIRECT' && hasMore) {
      at += 1;
      if (options.redirect !== undefined) {
        return new ErrorReply('ERR A client can only redirect to a single other client');
      }
      const id = clientId(words[at] as ByteString);
      if (id === undefined) return ERRORS.notAnInteger;
      if (client.endpoint.clients.find(id, client.grant?.database) === undefined) {
        return new ErrorReply('ERR The client ID you want redirect to does not exist');
      }
      options.redirect = id;
    } else if (option === 'BCAST') options.isBroadcast = true;
    else if (option === 'OPTIN') options.isOptIn = true;
    else if (option === 'OPTOUT') options.isOptOut = true;
    else if (option === 'NOLOOP') options.isNoLoop = true;
    else if (option === 'PREFIX' && hasMore) {
      at += 1;
      options.prefixes.push(words[at] as ByteString);
    } else return ERRORS.syntax;
  }
  return options;
}

function problemOf(options: Options, before: Tracking | undefined): ErrorReply | undefined {
  const { isBroadcast, isOptIn, isOptOut, prefixes } = options;
  if (!isBroadcast && prefixes.length > 0) {
    return new ErrorReply('ERR PREFIX option requires BCAST mode to be enabled');
  }
  if (before !== undefined && before.isBroadcast !== isBroadcast) {
    return new ErrorReply(
      "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.",
    );
  }
  if (isBroadcast && (isOptIn || isOptOut)) return new ErrorReply('ERR OPTIN and OPTOUT are not compatible with BCAST');
  if (isOptIn && isOptOut) return new ErrorReply("ERR You can't specify both OPTIN mode and OPTOUT mode");
  if ((isOptIn && before?.mode === 'opt-out') || (isOptOut && before?.mode === 'opt-in')) {
    return new ErrorReply(
      "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.",
    );
  }
  if ((before?.prefixes.length ?? 0) + prefixes.length > MAX_PREFIXES) {
    return new ErrorReply(`ERR too many prefixes. Limit: ${MAX_PREFIXES}`);
  }
  return isBroadcast ? overlapOf(prefixes, before?.prefixes ?? []) : undefined;
}

function overlapOf(prefixes: readonly ByteString[], existing: readonly ByteString[]): ErrorReply | undefined {
  for (let i = 0; i < prefixes.length; i += 1) {
    const prefix = prefixes[i] as ByteString;
    const old = existing.find((other) => other.startsWith(prefix) || prefix.startsWith(other));
    if (old !== undefined) return overlap(prefix, `an existing prefix '${old}'`);
    for (const other of prefixes.slice(i + 1)) {
      if (other.startsWith(prefix) || prefix.startsWith(other)) {
        return overlap(prefix, `another provided prefix '${other}'`);
      }
    }
  }
  return undefined;
}

function overlap(prefix: ByteString, other: string): ErrorReply {
  return new ErrorReply(
    `ERR Prefix '${prefix}' overlaps with ${other}. Prefixes for a single client must not overlap.`,
  );
}

/** BCAST without PREFIX means all keys: the prefix '', which TRACKINGINFO also shows. */
function prefixesOf({ isBroadcast, prefixes }: Options, before: Tracking | undefined): readonly ByteString[] {
  const added = isBroadcast && prefixes.length === 0 ? [''] : prefixes;
  return [...new Set([...(before?.prefixes ?? []), ...added])];
}

async function startTracking(client: RespClient, options: Options): Promise<Reply> {
  const before = client.tracking;
  const grant = client.grant as KvGrant;
  const { isBroadcast, isNoLoop, redirect } = options;
  const prefixes = prefixesOf(options, before);
  client.tracking = {
    isBroadcast,
    prefixes,
    heldBytes: namesBytes(prefixes),
    mode: options.isOptIn ? 'opt-in' : options.isOptOut ? 'opt-out' : 'all',
    isNoLoop,
    redirect,
    isRedirectBroken: false,
    caching: undefined,
  };
  try {
    await client.endpoint.tracking.join(client, grant, isBroadcast);
  } catch (failure) {
    client.tracking = undefined;
    throw failure;
  }
  // The client may have disconnected while the owner was told.
  if (client.isClosed) client.endpoint.tracking.leave(client, grant);
  else endUnlessAllowed(client, grant);
  return OK;
}

function stopTracking(client: RespClient): void {
  if (client.tracking === undefined) return;
  client.endpoint.tracking.leave(client, client.grant as KvGrant);
  client.tracking = undefined;
}

/** CLIENT CACHING YES | NO → OK. */
function caching(client: RespClient, how: string): Reply {
  const { tracking } = client;
  if (tracking === undefined || tracking.mode === 'all') {
    return new ErrorReply(
      'ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled',
    );
  }
  if (how === 'YES') {
    if (tracking.mode !== 'opt-in') {
      return new ErrorReply('ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.');
    }
    tracking.caching = 'yes';
    return OK;
  }
  if (how !== 'NO') return ERRORS.syntax;
  if (tracking.mode !== 'opt-out') {
    return new ErrorReply('ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.');
  }
  tracking.caching = 'no';
  return OK;
}

function redirectOf({ tracking }: RespClient): number {
  return tracking === undefined ? -1 : (tracking.redirect ?? 0);
}

function trackingInfo(client: RespClient): Reply {
  const { tracking } = client;
  const flags: string[] = tracking === undefined ? ['off'] : ['on'];
  if (tracking?.isBroadcast === true) flags.push('bcast');
  if (tracking?.mode === 'opt-in') flags.push('optin');
  if (tracking?.mode === 'opt-out') flags.push('optout');
  if (tracking?.caching !== undefined) flags.push(`caching-${tracking.caching}`);
  if (tracking?.isNoLoop === true) flags.push('noloop');
  if (tracking?.isRedirectBroken === true) flags.push('broken_redirect');
  return new MapReply([
    'flags',
    new SetReply(flags),
    'redirect',
    redirectOf(client),
    'prefixes',
    tracking?.prefixes ?? [],
  ]);
}

export const TRACKING: Readonly<Record<string, ConnectionCommand>> = {
  'CLIENT TRACKING': { run: track },
  'CLIENT CACHING': {
    run: (client, words) => caching(client, (words[2] as ByteString).toUpperCase()),
    isQueueable: true,
  },
  'CLIENT GETREDIR': { run: redirectOf, isQueueable: true },
  'CLIENT TRACKINGINFO': { run: trackingInfo, isQueueable: true },
};
