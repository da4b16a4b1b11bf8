/**
 * The routes of the REST endpoint, directly on Node's server: commands in the path, `/`, `/pipeline`, `/multi-exec`
 * and event streams. Measured for a constant answer: 11 µs for a plain request (plain-head.ts), 15 µs for others, 27
 * µs through Koa.
 *
 * Order of checks: method, token, address, headers, target, body, each command, quota. No command is executed before
 * all checks have passed.
 */
import { ErrorReply, requestTooLarge } from '../../domain/kv/index.js';
import { type ByteString, bytesOfBuffer, bytesOfText } from '../../kernel/index.js';
import type { KvGrant } from '../../ports/index.js';
import { badRequest, bodyTooLarge, REFUSALS, type Refusal, refusalOf } from '../error-map.js';
import type { PassedCall } from '../http/application.js';
import type { HttpResponse, ReceivedRequest } from '../http/exchange.js';
import { type BodyOutcome, ofRead, PlainRequest, RequestBodyReader } from '../http/index.js';
import { authenticate } from './authentication.js';
import { ALLOWED_METHODS } from './cors.js';
import { EventStreams } from './event-streams.js';
import { KvExchange } from './exchange.js';
import { LONG_PIPELINE_BYTES, parseBatchBody, parseCommandBody, parseInSlices } from './json-body.js';
import type { JsonCommand } from './json-command-reader.js';
import type { KvEndpoint } from './kv-endpoint.js';
import { RequestRunner } from './request-runner.js';
import { parseRequestTarget, type RequestTarget } from './request-target.js';
import { negotiateFormat } from './response-format.js';

const METHODS: ReadonlySet<string | undefined> = new Set(ALLOWED_METHODS.split(', '));

export class KvHandler {
  readonly #runner: RequestRunner;
  readonly #bodies: RequestBodyReader;
  readonly #streams: EventStreams;

  constructor(private readonly endpoint: KvEndpoint) {
    this.#runner = new RequestRunner(endpoint);
    this.#bodies = new RequestBodyReader(endpoint.budget);
    this.#streams = new EventStreams(endpoint);
  }

  /** Ends the streams, which would not end on their own. */
  close(): void {
    this.#streams.close();
  }

  handle(request: ReceivedRequest, response: HttpResponse): void {
    const { endpoint } = this;
    const exchange = new KvExchange(request, response, endpoint.spellings.spellingOf(request.headers), endpoint);
    if (!METHODS.has(request.method)) {
      if (endpoint.cors.isPreflight(request)) exchange.answerPreflight();
      else exchange.refuseStranger(REFUSALS.methodNotAllowed, { Allow: ALLOWED_METHODS });
      return;
    }
    const target = parseRequestTarget(request.url as string);
    request.route = target.route;
    if (isStream(target)) {
      if (request instanceof PlainRequest) request.handOver();
      else this.#streams.open(exchange, target);
      return;
    }
    try {
      this.#judge(exchange, target);
    } catch (failure) {
      exchange.refuseStranger(this.#told(failure));
    }
  }

  /** Answers a pipeline or a transaction of a page of this process. */
  answerPassed(
    { request, response }: { request: ReceivedRequest; response: HttpResponse },
    { url, token, body }: PassedCall,
  ): void {
    const { endpoint } = this;
    const exchange = new KvExchange(request, response, endpoint.spellings.spellingOf(request.headers), endpoint, true);
    try {
      this.#judge(exchange, { ...parseRequestTarget(url), token: bytesOfText(token) }, body);
    } catch (failure) {
      exchange.refuseStranger(this.#told(failure));
    }
  }

  /** @param read the body, if it was read before */
  #judge(exchange: KvExchange, target: RequestTarget, read?: Buffer): void {
    const { request, spelling } = exchange;
    const grant = this.#grantOf(exchange, target);
    if (grant === undefined) return;
    const negotiated = negotiateFormat(this.endpoint.spellings, request.headers, spelling);
    if ('problem' in negotiated) {
      exchange.refuse(badRequest(negotiated.problem));
      return;
    }
    // A transaction always answers JSON.
    exchange.format = target.route === 'multi-exec' && negotiated.format === 'resp2' ? 'json' : negotiated.format;
    if (target.isMalformed) exchange.refuse(badRequest('ERR malformed percent-encoding in the URL'));
    else if (request.method === 'GET' || request.method === 'HEAD') this.#withBody(exchange, grant, target, undefined);
    else this.#receive(exchange, grant, target, read);
  }

  /** The request's grant; undefined after a refusal. */
  #grantOf(exchange: KvExchange, target: RequestTarget): KvGrant | undefined {
    const judged = authenticate(this.endpoint, exchange.request, target.token);
    if (!('status' in judged)) return judged;
    exchange.refuseStranger(judged);
    return undefined;
  }

  #receive(exchange: KvExchange, grant: KvGrant, target: RequestTarget, read: Buffer | undefined): void {
    const { access, limits } = this.endpoint.parts;
    const { maxBodyBytes } = limits;
    const { version } = access;
    // The body of a path command is an argument, byte for byte, so the command's limit applies.
    const isArgument = target.route === 'command';
    const limitBytes = isArgument ? Math.min(grant.limits.maxCommandBytes, maxBodyBytes) : maxBodyBytes;
    const take = (outcome: BodyOutcome) => {
      try {
        if (outcome.kind === 'whole') {
          // A body may take long to arrive; the grant may have been revoked in that time.
          const current = access.version === version ? grant : this.#grantOf(exchange, target);
          if (current !== undefined) this.#withBody(exchange, current, target, outcome.body);
        } else if (outcome.kind !== 'aborted')
          exchange.refuse(bodyRefusal(outcome, limitBytes, isArgument || target.route === 'whole-command'));
      } catch (failure) {
        this.#fail(exchange, failure);
      }
    };
    if (read === undefined) this.#bodies.read(exchange, grant.database, limitBytes, take);
    else take(ofRead(read, limitBytes));
  }

  /** @param body undefined for methods whose body has no meaning */
  #withBody(exchange: KvExchange, grant: KvGrant, target: RequestTarget, body: Buffer | undefined): void {
    if (target.route === 'command') {
      this.#runner.start({ exchange, grant, target, mode: 'single' }, [wordsOf(target, body)]);
    } else if (body !== undefined && body.length > LONG_PIPELINE_BYTES) {
      this.#parseInSlices(exchange, grant, target, body).catch((failure) => this.#fail(exchange, failure));
    } else if (target.route === 'whole-command') {
      this.#withCommands(exchange, grant, target, body === undefined ? [] : parseCommandBody(body));
    } else {
      this.#withCommands(exchange, grant, target, parseBatchBody(body ?? Buffer.alloc(0)));
    }
  }

  async #parseInSlices(exchange: KvExchange, grant: KvGrant, target: RequestTarget, body: Buffer): Promise<void> {
    const slices = parseInSlices(body, target.route !== 'whole-command');
    for (let step = slices.next(); ; step = slices.next()) {
      if (step.done === true) return this.#withCommands(exchange, grant, target, step.value);
      await this.endpoint.parts.timers.yieldToEventLoop();
    }
  }

  /** @param parsed one command or many, depending on the route */
  #withCommands(
    exchange: KvExchange,
    grant: KvGrant,
    target: RequestTarget,
    parsed: JsonCommand | JsonCommand[] | ErrorReply,
  ): void {
    if (target.route === 'whole-command') {
      const command = parsed as JsonCommand;
      if (command instanceof ErrorReply) exchange.refuse(badRequest(command.restText));
      else this.#runner.start({ exchange, grant, target, mode: 'single' }, [command]);
    } else {
      const commands = parsed as JsonCommand[] | ErrorReply;
      const { maxBatchCommands } = this.endpoint.parts.limits;
      if (commands instanceof ErrorReply) {
        exchange.refuse(badRequest(commands.restText));
      } else if (commands.length > maxBatchCommands) {
        exchange.refuse(badRequest(`ERR too many commands in one request. Limit: ${maxBatchCommands}`));
      } else {
        const mode = target.route === 'pipeline' ? 'pipeline' : 'transaction';
        this.#runner.start({ exchange, grant, target, mode }, commands);
      }
    }
  }

  #fail(exchange: KvExchange, failure: unknown): void {
    exchange.refuse(this.#told(failure));
  }

  #told(failure: unknown): Refusal {
    return this.endpoint.incidents.told(refusalOf(failure), failure);
  }
}

/** A single command above the limit gets the documented 400; a batch gets another answer. */
function bodyRefusal(
  outcome: Exclude<BodyOutcome, { kind: 'whole' | 'aborted' }>,
  limitBytes: number,
  isOneCommand: boolean,
): Refusal {
  if (outcome.kind === 'overloaded') return REFUSALS.overloaded;
  const { actualBytes } = outcome;
  return isOneCommand
    ? badRequest(requestTooLarge(limitBytes, actualBytes).text)
    : bodyTooLarge(limitBytes, actualBytes);
}

function isStream({ route }: RequestTarget): boolean {
  return route === 'monitor' || route === 'subscribe' || route === 'psubscribe';
}

/** Words of the path, then the body, then query options. */
function wordsOf(target: RequestTarget, body: Buffer | undefined): readonly ByteString[] {
  const { words, options } = target;
  if (body !== undefined && body.length > 0) words.push(bytesOfBuffer(body));
  if (options.length > 0) words.push(...options);
  return words;
}
