/**
 * Subscriptions and MONITOR as server-sent events: one HTTP response that does not end, with a `data: ` line per
 * message.
 *
 *  EVS1 the headers are sent when the owner knows the subscription: messages published afterwards arrive
 *  EVS2 a stream ends with its client, and at most a second after its permission; no message after a revocation is
 *       sent
 *  EVS3 a reader that is too slow is disconnected, also when its database's budget has no room for its unread bytes;
 *       other listeners do not wait for it
 */
import { ServerResponse } from 'node:http';
import { ErrorReply, findCommand, globTooLong, isGlobTooLong, notOverRest, wrongArity } from '../../domain/kv/index.js';
import { assert, type ByteString, type Hold, textOfBytes } from '../../kernel/index.js';
import type { KvGrant, KvSubscription } from '../../ports/index.js';
import type { KvEvent, KvListenKind } from '../../protocol/index.js';
import { bytesOfWords, closureOf } from '../commands/admission.js';
import { denialOf, mayRun, noPermission } from '../commands/permissions.js';
import { QUOTA_EXCEEDED } from '../commands/quota.js';
import { badRequest, REFUSALS, refusalOf } from '../error-map.js';
import { discardBody } from '../http/index.js';
import { type OutboundChunk, sharedChunk } from '../outbound-buffer.js';
import { grantOfToken, signIn } from './authentication.js';
import { EventStreamOutput } from './event-stream-output.js';
import type { KvExchange } from './exchange.js';
import type { KvEndpoint } from './kv-endpoint.js';
import type { RequestTarget } from './request-target.js';

const EVENT_STREAM = 'text/event-stream';
/** Interval at which permissions are checked again: a revocation must take effect within a second. */
const RECHECK_EVERY_MS = 500;
/** Interval of comments that detect dead connections and keep proxies from closing a quiet stream. */
const KEEPALIVE_EVERY_MS = 15_000;
const KEEPALIVE = ': keepalive\n\n';
/** Channels or patterns of one stream; more are a mistake. */
const MAX_CHANNELS = 1000;

/** The command that a stream counts as. */
const COMMANDS_OF_STREAMS = {
  monitor: { name: 'MONITOR' },
  subscribe: { name: 'SUBSCRIBE' },
  psubscribe: { name: 'PSUBSCRIBE' },
} as const;
type StreamRoute = keyof typeof COMMANDS_OF_STREAMS;

interface Stream {
  readonly response: ServerResponse;
  readonly token: string | undefined;
  readonly authorization: string | undefined;
  /** The client's address. */
  readonly address: string;
  /** The grant at its start. */
  readonly grant: KvGrant;
  readonly target: RequestTarget;
  readonly names: readonly ByteString[];
  readonly subscriptions: KvSubscription[];
  /** Counts the names, and the unread bytes. */
  readonly hold: Hold;
  readonly output: EventStreamOutput;
  isOpen: boolean;
  /** The version of the access rules at the last check. */
  accessVersion: number | undefined;
  keptAliveAtMs: number;
}

export class EventStreams {
  readonly #streams = new Set<Stream>();
  #isSweeping = false;
  /** Encoded events: all listeners of a channel share one event. */
  readonly #textByEvent = new WeakMap<KvEvent, OutboundChunk>();

  constructor(private readonly endpoint: KvEndpoint) {}

  get size(): number {
    return this.#streams.size;
  }

  /** Answers a request to one of the stream routes. */
  open(exchange: KvExchange, target: RequestTarget): void {
    const { response } = exchange;
    assert(response instanceof ServerResponse, 'a stream is answered by Node');
    this.#open(exchange, response, target).catch((failure: unknown) => {
      exchange.refuseStranger(refusalOf(failure));
    });
  }

  /** Ends every stream: the process is about to stop. */
  close(): void {
    for (const stream of [...this.#streams]) this.#end(stream);
  }

  async #open(exchange: KvExchange, response: ServerResponse, target: RequestTarget): Promise<void> {
    const { endpoint } = this;
    const { headers, method } = exchange.request;
    const grant = signIn(endpoint, exchange.request, target.token);
    if ('status' in grant) return exchange.refuseStranger(grant);
    const address = endpoint.addresses.of(exchange.request);
    const closure = closureOf(grant, () => address);
    if (closure !== undefined) return exchange.refuseStranger(closure);
    discardBody(exchange.request);
    if (headers.expect !== undefined) response.writeContinue();
    // A HEAD answer would never end and have no body.
    if (method === 'HEAD') return exchange.refuse(badRequest(notOverRest(target.route).text));
    if (target.isMalformed) return exchange.refuse(badRequest('ERR malformed percent-encoding in the URL'));
    const names = namesOf(target);
    const problem = problemOf(grant, target, names, headers.accept ?? '');
    if (problem !== undefined) return exchange.refuse(badRequest(problem.restText));
    if (!(await endpoint.parts.quota.take(grant, 1))) return exchange.refuse(badRequest(QUOTA_EXCEEDED.restText));
    const hold = endpoint.budget.hold(grant.database);
    const nameBytes = bytesOfWords(names);
    if (!hold.resize(nameBytes)) {
      hold.release();
      return exchange.refuse(REFUSALS.overloaded);
    }
    const stream: Stream = {
      response,
      token: target.token,
      authorization: headers.authorization,
      address,
      grant,
      target,
      names,
      subscriptions: [],
      hold,
      output: new EventStreamOutput({
        response,
        tenant: grant.database,
        broadcasts: endpoint.broadcasts,
        hold,
        nameBytes,
      }),
      isOpen: false,
      accessVersion: undefined,
      keptAliveAtMs: endpoint.parts.clock.monotonicMs(),
    };
    this.#streams.add(stream);
    endpoint.parts.meter.connected(grant.database, 1);
    exchange.response.on('close', () => this.#forget(stream));
    this.#sweepLater();
    await this.#subscribe(stream, exchange);
    const specs = [COMMANDS_OF_STREAMS[target.route as StreamRoute]];
    endpoint.parts.meter.recordKv(grant.database, {
      commands: 1,
      writes: 0,
      bytesIn: nameBytes,
      bytesOut: 0,
      durationMs: 0,
      specs,
    });
  }

  async #subscribe(stream: Stream, exchange: KvExchange): Promise<void> {
    const { grant, target, names } = stream;
    const early: KvEvent[] = [];
    const onEvent = (event: KvEvent) => {
      if (stream.isOpen) this.#tell(stream, event);
      else early.push(event);
    };
    const { events } = this.endpoint.parts;
    const kind = KINDS[target.route as keyof typeof KINDS];
    try {
      for (const name of names) stream.subscriptions.push(await events.subscribe(grant, kind, name, onEvent));
    } catch (error) {
      this.#forget(stream);
      throw error;
    }
    // The client may have disconnected during the wait.
    if (!this.#streams.has(stream)) {
      for (const subscription of stream.subscriptions) subscription.stop();
      return;
    }
    exchange.beginStream(EVENT_STREAM);
    stream.isOpen = true;
    stream.response.write(
      target.route === 'monitor'
        ? 'data: "OK"\n\n'
        : names.map((name, index) => dataLines(`${target.route},${textOfBytes(name)},${index + 1}`)).join(''),
    );
    for (const event of early) this.#tell(stream, event);
  }

  /** Checks the permission before the event if the rules have changed since the last check. */
  #tell(stream: Stream, event: KvEvent): void {
    const { version } = this.endpoint.parts.access;
    if (version === undefined || version !== stream.accessVersion) {
      stream.accessVersion = version;
      if (!this.#isStillPermitted(stream)) this.#end(stream);
    }
    if (stream.isOpen) this.#write(stream, event);
  }

  #write(stream: Stream, event: KvEvent): void {
    let text = this.#textByEvent.get(event);
    if (text === undefined) {
      text = sharedChunk(textOfEvent(event));
      this.#textByEvent.set(event, text);
    }
    stream.output.say(text);
  }

  #end(stream: Stream): void {
    this.#forget(stream);
    stream.output.end();
  }

  #forget(stream: Stream): void {
    if (!this.#streams.delete(stream)) return;
    stream.isOpen = false;
    stream.hold.release();
    this.endpoint.parts.meter.connected(stream.grant.database, -1);
    for (const subscription of stream.subscriptions) subscription.stop();
  }

  /** One timer for all streams checks permissions and sends keepalives; it stops without streams. */
  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.endpoint.parts.timers.after(RECHECK_EVERY_MS, () => {
      this.#isSweeping = false;
      const nowMs = this.endpoint.parts.clock.monotonicMs();
      for (const stream of [...this.#streams]) this.#look(stream, nowMs);
      if (this.#streams.size > 0) this.#sweepLater();
    });
  }

  #look(stream: Stream, nowMs: number): void {
    stream.output.count();
    if (!this.#isStillPermitted(stream)) this.#end(stream);
    else if (stream.isOpen && nowMs - stream.keptAliveAtMs >= KEEPALIVE_EVERY_MS) {
      stream.keptAliveAtMs = nowMs;
      if (stream.output.isQuiet) stream.output.say(KEEPALIVE);
    }
  }

  #isStillPermitted(stream: Stream): boolean {
    const { token, authorization, address, target, names } = stream;
    try {
      const grant = grantOfToken(this.endpoint.parts.access, token, authorization);
      if (grant === undefined || closureOf(grant, () => address) !== undefined) return false;
      return grant === stream.grant || problemOf(grant, target, names, EVENT_STREAM) === undefined;
    } catch {
      // The grants are not current; the next check decides.
      return true;
    }
  }
}

const KINDS = { subscribe: 'channel', psubscribe: 'pattern', monitor: 'monitor' } as const satisfies Record<
  string,
  KvListenKind
>;

/** Channels or patterns, each once; MONITOR listens to one unnamed channel. */
function namesOf({ route, words }: RequestTarget): ByteString[] {
  return route === 'monitor' ? [''] : [...new Set(words.slice(1))];
}

function problemOf(
  grant: KvGrant,
  { route }: RequestTarget,
  names: readonly ByteString[],
  accept: string,
): ErrorReply | undefined {
  const name = route.toUpperCase();
  const spec = findCommand([name]);
  if (spec === undefined || !mayRun(grant, spec)) return noPermission(route);
  const denial = route === 'monitor' ? undefined : denialOf(grant, spec, [name, ...names]);
  if (denial !== undefined) return denial;
  if (!accept.includes(EVENT_STREAM)) return notOverRest(name);
  if (names.length === 0) return wrongArity(route);
  if (names.length > MAX_CHANNELS) return new ErrorReply(`ERR too many channels in one stream. Limit: ${MAX_CHANNELS}`);
  if (route === 'psubscribe' && names.some(isGlobTooLong)) return globTooLong;
  return undefined;
}

function textOfEvent(event: KvEvent): string {
  switch (event.type) {
    case 'message':
      return dataLines(`message,${textOfBytes(event.channel)},${textOfBytes(event.payload)}`);
    case 'pmessage':
      return dataLines(
        `pmessage,${textOfBytes(event.pattern)},${textOfBytes(event.channel)},${textOfBytes(event.payload)}`,
      );
    case 'monitor':
      return dataLines(textOfBytes(event.line));
    default:
      return '';
  }
}

/** One event; a line feed in the text starts another line of the same event. */
function dataLines(text: string): string {
  return `data: ${/[\r\n]/.test(text) ? text.split(/\r\n|\r|\n/).join('\ndata: ') : text}\n\n`;
}
