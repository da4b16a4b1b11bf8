/** SUBSCRIBE and related commands, and MONITOR. */
import { encodePush, encodeReplyAs, type RespVersion } from '../../../codec/resp/index.js';
import { ErrorReply, globTooLong, isGlobTooLong, OK, SimpleString } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';
import type { KvGrant, KvSubscription } from '../../../ports/index.js';
import type { KvEvent } from '../../../protocol/index.js';
import { namesBytes, type SubscriptionKind } from '../client-state.js';
import { endUnlessAllowed } from '../listening-rights.js';
import { NO_MEMORY } from '../memory-refusals.js';
import type { RespClient } from '../resp-client.js';
import { type CommandAnswer, type ConnectionCommand, Several } from './connection-command.js';

interface Verb {
  readonly kind: SubscriptionKind;
  /** Their names in confirmations. */
  readonly on: string;
  readonly off: string;
  /** Kinds that share one count. */
  readonly counted: readonly SubscriptionKind[];
}

const PLAIN: readonly SubscriptionKind[] = ['channel', 'pattern'];
const CHANNELS: Verb = { kind: 'channel', on: 'subscribe', off: 'unsubscribe', counted: PLAIN };
const PATTERNS: Verb = { kind: 'pattern', on: 'psubscribe', off: 'punsubscribe', counted: PLAIN };
const SHARD_CHANNELS: Verb = {
  kind: 'shard-channel',
  on: 'ssubscribe',
  off: 'sunsubscribe',
  counted: ['shard-channel'],
};

/**
 * One confirmation per name, after the owner has registered it. If one name fails, none is subscribed and the command
 * has one error: a client that counts answers would take a second error for the answer to its next command.
 */
async function subscribe(client: RespClient, verb: Verb, names: readonly ByteString[]): Promise<CommandAnswer> {
  const grant = client.grant as KvGrant;
  const { maxSubscriptions } = client.endpoint.parts.limits;
  if (client.subscriptionCount('channel', 'pattern', 'shard-channel') + names.length > maxSubscriptions) {
    return new ErrorReply(`ERR too many subscriptions. Limit: ${maxSubscriptions}`);
  }
  if (!client.link.mayHold(namesBytes(names))) return NO_MEMORY;
  if (verb === PATTERNS && names.some(isGlobTooLong)) return globTooLong;
  // Removes duplicates: the owner is told of each name once.
  const asked = [...new Set(names)].map(async (name) => [name, await listen(client, grant, verb.kind, name)] as const);
  const outcomes = new Map(await Promise.all(asked));
  const refusal = [...outcomes.values()].find((outcome) => outcome instanceof ErrorReply);
  if (refusal !== undefined) {
    for (const outcome of outcomes.values()) if (isSubscription(outcome)) outcome.stop();
    return refusal;
  }
  let bytes = '';
  for (const name of names) {
    const outcome = outcomes.get(name) as Listening;
    if (isSubscription(outcome)) keep(client, verb.kind, name, outcome);
    bytes += encodePush([verb.on, name, client.subscriptionCount(...verb.counted)], client.protocol);
  }
  endUnlessAllowed(client, grant);
  return new Several(bytes);
}

function tell(client: RespClient, event: KvEvent): void {
  if (client.link.mayHear()) client.link.push(messageBytes(event, client.protocol));
}

type Listening = KvSubscription | 'known' | ErrorReply;

function isSubscription(outcome: Listening): outcome is KvSubscription {
  return outcome !== 'known' && !(outcome instanceof ErrorReply);
}

async function listen(
  client: RespClient,
  grant: KvGrant,
  kind: SubscriptionKind,
  name: ByteString,
): Promise<Listening> {
  if (client.subscriptions?.[kind].has(name) === true) return 'known';
  try {
    return await client.endpoint.parts.events.subscribe(grant, kind, name, (event) => tell(client, event));
  } catch (failure) {
    return new ErrorReply(client.endpoint.failureText(failure));
  }
}

/** The client may have disconnected during the wait. */
function keep(client: RespClient, kind: SubscriptionKind, name: ByteString, subscription: KvSubscription): void {
  if (client.isClosed) subscription.stop();
  else client.subscribed(kind, name, subscription);
}

function unsubscribe(client: RespClient, verb: Verb, given: readonly ByteString[]): CommandAnswer {
  const known = client.subscriptions?.[verb.kind];
  const names: readonly (ByteString | null)[] = given.length > 0 ? given : [...(known?.keys() ?? [])];
  let bytes = '';
  for (const name of names.length > 0 ? names : [null]) {
    if (name !== null) client.unsubscribe(verb.kind, name);
    bytes += encodePush([verb.off, name, client.subscriptionCount(...verb.counted)], client.protocol);
  }
  return new Several(bytes);
}

/** Encoded messages, by protocol version: many clients of a process get the same message. */
const bytesByEvent: readonly WeakMap<KvEvent, ByteString>[] = [new WeakMap(), new WeakMap()];

function messageBytes(event: KvEvent, version: RespVersion): ByteString {
  const known = bytesByEvent[version - 2] as WeakMap<KvEvent, ByteString>;
  let bytes = known.get(event);
  if (bytes === undefined) {
    bytes = encodeMessage(event, version);
    known.set(event, bytes);
  }
  return bytes;
}

function encodeMessage(event: KvEvent, version: RespVersion): ByteString {
  switch (event.type) {
    case 'message':
    case 'smessage':
      return encodePush([event.type, event.channel, event.payload], version);
    case 'pmessage':
      return encodePush([event.type, event.pattern, event.channel, event.payload], version);
    case 'monitor':
      return encodeReplyAs(new SimpleString(event.line), version);
    case 'invalidate':
      return '';
  }
}

async function monitor(client: RespClient): Promise<CommandAnswer> {
  if (client.monitoring !== undefined) return OK;
  const grant = client.grant as KvGrant;
  const subscription = await client.endpoint.parts.events.subscribe(grant, 'monitor', '', (event) =>
    tell(client, event),
  );
  if (client.isClosed) subscription.stop();
  else {
    client.monitoring = subscription;
    client.isMonitor = true;
    endUnlessAllowed(client, grant);
  }
  return OK;
}

function on(verb: Verb): ConnectionCommand {
  return { run: (client, words) => subscribe(client, verb, words.slice(1)), isAlwaysHeard: true, isQueueable: true };
}

function off(verb: Verb): ConnectionCommand {
  return { run: (client, words) => unsubscribe(client, verb, words.slice(1)), isAlwaysHeard: true, isQueueable: true };
}

export const SUBSCRIPTIONS: Readonly<Record<string, ConnectionCommand>> = {
  SUBSCRIBE: on(CHANNELS),
  UNSUBSCRIBE: off(CHANNELS),
  PSUBSCRIBE: on(PATTERNS),
  PUNSUBSCRIBE: off(PATTERNS),
  SSUBSCRIBE: {
    ...on(SHARD_CHANNELS),
    inTransaction: new ErrorReply("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"),
  },
  SUNSUBSCRIBE: off(SHARD_CHANNELS),
  MONITOR: {
    run: monitor,
    isQueueable: true,
    inTransaction: new ErrorReply("ERR MONITOR isn't allowed for DENY BLOCKING client"),
  },
};
