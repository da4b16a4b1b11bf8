/**
 * What comes first, straight on Node's server: the token, the account's bounds, the body; and the two calls that
 * are many, publish and enqueue, to their end. Everything else goes on to the application with its body read.
 *
 * Order of judgement: token, method, rights, burst limit, configuration, body.
 */
import type { ServerResponse } from 'node:http';
import { nameProblem } from '../../domain/queue/index.js';
import { QUEUE_REFUSALS, queueBodyTooLarge } from '../error-map.js';
import { type BodyOutcome, BodyReader, discardBody, type FaceRequest } from '../http/index.js';
import { rawSettingsOf, readWords } from './call-words.js';
import { warningHeaders } from './daily-headers.js';
import { decoded, destinationInPath, splitTarget } from './destination.js';
import { refusedBy } from './failures.js';
import { publishedJson, publishedStatus } from './publish-answer.js';
import { publishItem } from './publish-items.js';
import { expected, QueueCall } from './queue-call.js';
import type { QueueFace } from './queue-face.js';
import { invalid, Refused } from './refused.js';

/** Answers a call whose body is there. */
export type Application = (call: QueueCall) => void;

const PUBLISH = '/v2/publish/';
const ENQUEUE = '/v2/enqueue/';
const BATCH = '/v2/batch';
const SCHEDULES = '/v2/schedules/';
const LANGUAGE_MODELS = '/llm/';

const BODILESS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

export class QueueHandler {
  readonly #bodies: BodyReader;

  constructor(
    private readonly face: QueueFace,
    private readonly application: Application,
  ) {
    this.#bodies = new BodyReader(face.parts.limits.maxBufferedBytes);
  }

  handle(request: FaceRequest, response: ServerResponse): void {
    let call: QueueCall | undefined;
    try {
      const { path, query } = splitTarget(request.url as string);
      const words = readWords(this.face.spellings, request.rawHeaders, query);
      const grant = words.token === undefined ? undefined : this.face.parts.access.grantForQueueToken(words.token);
      if (grant === undefined) {
        this.#refuseStranger(request, response);
        return;
      }
      call = new QueueCall(this.face, request, response, path, words, grant);
      if (path.startsWith(PUBLISH)) this.#publish(call, undefined, path.slice(PUBLISH.length));
      else if (path.startsWith(ENQUEUE)) this.#enqueue(call, path.slice(ENQUEUE.length));
      else this.#pass(call);
    } catch (failure) {
      if (call === undefined) this.#failEarly(request, response, failure);
      else this.#fail(call, failure);
    }
  }

  #enqueue(call: QueueCall, remainder: string): void {
    const slash = remainder.indexOf('/');
    const queueName = decoded(slash < 0 ? remainder : remainder.slice(0, slash));
    const problem = nameProblem('queue name', queueName);
    if (problem !== undefined) throw invalid(problem);
    this.#publish(call, queueName, slash < 0 ? '' : remainder.slice(slash + 1));
  }

  #publish(call: QueueCall, queueName: string | undefined, remainder: string): void {
    const { words, grant, request } = call;
    if (request.method !== 'POST') throw new Refused(QUEUE_REFUSALS.methodNotAllowed, { Allow: 'POST' });
    call.mustBeAllowedToPublish();
    const destination = destinationInPath(remainder, words.rest);
    const raw = rawSettingsOf(words, destination.kind === 'group');
    const of = queueName === undefined ? 'publish' : 'enqueue';
    const asked = { destination, raw, of, queueName, isAlias: words.isAlias } as const;
    const limit = Math.min(grant.facts.limits.maxMessageBytes, this.face.parts.limits.maxBodyBytes);
    this.#receive(call, limit, (body) => {
      const item = publishItem(call, { ...asked, body });
      this.face.parts.gateway.publish(grant.account, [item]).then(
        (reply) => {
          try {
            const { results, daily } = expected(reply, 'Published');
            const [result] = results as [(typeof results)[number]];
            call.json(publishedStatus(result), publishedJson(result), warningHeaders(daily));
          } catch (failure) {
            this.#fail(call, failure);
          }
        },
        (failure) => this.#fail(call, failure),
      );
    });
  }

  #pass(call: QueueCall): void {
    const { path, grant, request } = call;
    if (path.startsWith(LANGUAGE_MODELS)) throw new Refused(QUEUE_REFUSALS.noLanguageModels);
    const isBatch = path === BATCH || path === `${BATCH}/`;
    const { maxRequestsPerSecond, maxMessageBytes } = grant.facts.limits;
    if (!isBatch && !this.face.bursts.take(grant.account, maxRequestsPerSecond)) {
      throw new Refused(QUEUE_REFUSALS.burst, this.face.bursts.headers(maxRequestsPerSecond));
    }
    if (BODILESS.has(request.method)) {
      discardBody(request);
      this.application(call);
      return;
    }
    const { maxBatchBytes, maxBodyBytes, maxJsonBytes } = this.face.parts.limits;
    const isMessage = path.startsWith(SCHEDULES);
    const limit = isBatch ? maxBatchBytes : Math.min(maxBodyBytes, isMessage ? maxMessageBytes : maxJsonBytes);
    this.#receive(call, limit, (body) => {
      call.body = body;
      this.application(call);
    });
  }

  #receive(call: QueueCall, limitBytes: number, then: (body: Buffer) => void): void {
    this.#bodies.read(call, limitBytes, (outcome) => {
      try {
        if (outcome.kind === 'whole') then(outcome.body);
        else if (outcome.kind !== 'aborted') throw new Refused(bodyRefusal(outcome, limitBytes));
      } catch (failure) {
        this.#fail(call, failure);
      }
    });
  }

  #fail(call: QueueCall, failure: unknown): void {
    call.refuse(refusedBy(this.face, failure));
  }

  #refuseStranger(request: FaceRequest, response: ServerResponse): void {
    this.#refuseBare(request, response, new Refused(QUEUE_REFUSALS.unauthorized));
  }

  /** Before anybody knows whose call it is. */
  #failEarly(request: FaceRequest, response: ServerResponse, failure: unknown): void {
    this.#refuseBare(request, response, refusedBy(this.face, failure));
  }

  #refuseBare(request: FaceRequest, response: ServerResponse, { refusal }: Refused): void {
    const text = JSON.stringify({ error: refusal.text });
    const headers = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))];
    if (refusal.retryAfterSeconds !== undefined) headers.push('Retry-After', String(refusal.retryAfterSeconds));
    if (this.face.isDraining) headers.push('Connection', 'close');
    response.writeHead(refusal.status, headers);
    response.end(text);
    discardBody(request);
  }
}

function bodyRefusal({ kind }: Exclude<BodyOutcome, { kind: 'whole' | 'aborted' }>, limitBytes: number) {
  return kind === 'overloaded' ? QUEUE_REFUSALS.overloaded : queueBodyTooLarge(limitBytes);
}
