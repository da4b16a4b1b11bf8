/**
 * The first handler of every request, on Node's server or, for plain requests (plain-head.ts), without it: checks the
 * token and the account's limits, and reads the body. It answers the frequent calls (publish, enqueue, batch) itself;
 * other calls go to the application.
 *
 * Order of checks: token, method, rights, rate limit, configuration, body. Only webhooks of workflows need no token:
 * their URL is the secret.
 */
import type { ServerResponse } from 'node:http';
import { nameProblem } from '../../domain/queue/index.js';
import type { QueueGrant } from '../../ports/index.js';
import { QUEUE_REFUSALS, queueBodyTooLarge, queueRefusalOf, SHARED_REFUSALS } from '../error-map.js';
import { writeRefusal } from '../http/answer.js';
import type { PassedCall } from '../http/application.js';
import {
  BODILESS_METHODS,
  type BodyOutcome,
  discardBody,
  type FaceRequest,
  isLongBody,
  ofRead,
  RequestBodyReader,
} from '../http/index.js';
import { bodyRefused, invalid, RefusedRequest } from '../http/refused.js';
import { foundRoute } from '../http/request-metrics.js';
import { signedIn } from '../http/signing-in.js';
import { rawSettingsOf, readWords } from './call-words.js';
import { decoded, decodedName, destinationInPath, splitTarget } from './destination.js';
import { publishedJson, publishedStatus, warningHeaders } from './publish-answer.js';
import type { RequestedMessage } from './publish-items.js';
import { cutOff, expected, QueueCall, type QueueRoute } from './queue-call.js';
import type { QueueFace } from './queue-face.js';
import { AROUND_BODY_BYTES, CHARACTERS_A_BYTE } from './queue-limits.js';
import { publishBatch } from './routes/batch.js';
import { QUEUE_FACE_ROUTES } from './routes/index.js';
import { beginsWithStep, headerValue, isSentByRun, runHeadersOf, runInBeginning } from './run-headers.js';
import { RUN_ID } from './run-names.js';
import { hasLargeRecord, withRecord } from './run-records.js';
import { grantForHook, HOOKS, hookIn, mustBeOpen, notifyOfHook } from './workflow-hooks.js';
import { askedItem } from './workflow-items.js';

const PUBLISH = '/v2/publish/';
const ENQUEUE = '/v2/enqueue/';
const BATCH = '/v2/batch';
const LANGUAGE_MODELS = '/llm/';
const RUNS = '/v2/workflows/runs/';
const WAIT = '/v2/wait/';
/** The endpoint reports the result of its run. */
const FINISHES = /(^|&)cancel=false(&|$)/;

/** Calls of endpoints in the middle of a run. */
const BY_RUNS = startsOf(({ boundBy }) => boundBy === 'run');
const BY_DAY = startsOf(({ boundBy }) => boundBy === 'day');
/** Calls with a body that is or becomes a message. */
const MESSAGES = startsOf(({ bodyBound }) => bodyBound === 'message');
const BATCHES = startsOf(({ bodyBound }) => bodyBound === 'batch');

/** Answers a call after its body was read. */
export type QueueApplication = (call: QueueCall) => void;

export class QueueHandler {
  readonly #bodies: RequestBodyReader;

  constructor(
    private readonly face: QueueFace,
    private readonly application: QueueApplication,
  ) {
    this.#bodies = new RequestBodyReader(face.budget);
  }

  readonly #isOurs = (token: string) => this.face.parts.access.grantForQueueToken(token) !== undefined;

  /** @param passed the call that another endpoint of this process made of the request */
  handle(request: FaceRequest, response: ServerResponse, passed?: PassedCall): void {
    const exchange = { request, response };
    let call: QueueCall | undefined;
    let mayBeOfRun = false;
    try {
      const { path, query } = splitTarget(request.url as string);
      const words = readWords(this.face.spellings, passed?.rawHeaders ?? request.rawHeaders, query, this.#isOurs);
      mayBeOfRun = isByRun(path) || isAt(BATCH, path) || isSentByRun(words.configuration);
      if (path.startsWith(HOOKS)) {
        const hook = hookIn(path);
        call = new QueueCall(this.face, exchange, words, grantForHook(this.face, hook), passed);
        this.#hook(call, hook);
        return;
      }
      const grant = this.#signIn(request, passed?.token ?? words.token);
      call = new QueueCall(this.face, exchange, words, grant, passed);
      if (path.startsWith(PUBLISH)) this.#publish(call, undefined, path.slice(PUBLISH.length));
      else if (path.startsWith(ENQUEUE)) this.#enqueue(call, path.slice(ENQUEUE.length));
      else if (request.method === 'POST' && isAt(BATCH, path)) this.#batch(call);
      else this.#pass(call);
    } catch (failure) {
      if (call === undefined) this.#failEarly(request, response, failure, mayBeOfRun);
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
    foundRoute(request, queueName === undefined ? PUBLISH : ENQUEUE);
    if (request.method !== 'POST') throw new RefusedRequest(SHARED_REFUSALS.methodNotAllowed, { Allow: 'POST' });
    call.mustBeAllowedToPublish();
    const destination = destinationInPath(remainder, words.rest);
    const raw = rawSettingsOf(words, destination.kind === 'group');
    const of = queueName === undefined ? 'publish' : 'enqueue';
    const asked = { destination, raw, of, queueName, isAlias: words.isAlias } as const;
    const run = runHeadersOf(words.configuration);
    if (run !== undefined) call.isOfRun = !run.isTrigger || run.isInvoke;
    call.runOfStep = run === undefined || run.isTrigger ? undefined : run.runId;
    const { maxMessageBytes } = grant.terms.limits;
    const most = run?.isInvoke === true ? maxMessageBytes * CHARACTERS_A_BYTE + AROUND_BODY_BYTES : maxMessageBytes;
    const limit = Math.min(most, this.face.parts.limits.maxBodyBytes);
    this.#receive(call, limit, (body) => {
      const whole = { ...asked, body };
      if (!hasLargeRecord(whole)) this.#publishOne(call, whole);
      else {
        const isRead = withRecord(this.face, whole).then((read) => this.#publishOne(call, read));
        isRead.catch((failure) => this.#fail(call, failure));
      }
    });
  }

  #publishOne(call: QueueCall, asked: RequestedMessage): void {
    const item = askedItem(call, asked);
    this.face.parts.gateway.publish(call.grant.account, [item], call.request.trace).then(
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
  }

  #hook(call: QueueCall, hook: ReturnType<typeof hookIn>): void {
    mustBeOpen(call);
    foundRoute(call.request, HOOKS);
    this.#limitBursts(call);
    const limit = Math.min(call.grant.terms.limits.maxMessageBytes, this.face.parts.limits.maxBodyBytes);
    this.#receive(call, limit, (body) => {
      call.body = body;
      notifyOfHook(call, hook).catch((failure) => this.#fail(call, failure));
    });
  }

  /** The form of a refusal depends on the sender, which is determined only when there is one. */
  #batch(call: QueueCall): void {
    this.#receive(call, this.face.parts.limits.maxBatchBytes, (body) => {
      call.body = body;
      publishBatch(call).catch((failure) => {
        if (beginsWithStep(body)) {
          call.isOfRun = true;
          call.runOfStep ??= runInBeginning(body);
        }
        this.#fail(call, failure);
      });
    });
  }

  #pass(call: QueueCall): void {
    const { path, grant, request } = call;
    if (path.startsWith(LANGUAGE_MODELS)) throw new RefusedRequest(QUEUE_REFUSALS.noLanguageModels);
    call.isByEndpoint = isByRun(path);
    call.isOfRun = call.isByEndpoint && request.method !== 'GET';
    if (path.startsWith(WAIT)) call.runOfStep = headerValue(call.words.configuration, RUN_ID);
    else if (request.method === 'DELETE' && path.startsWith(RUNS) && FINISHES.test(call.words.rest)) {
      call.runOfStep = decodedName(path.slice(RUNS.length));
    }
    if (!call.isByEndpoint && !isIn(BY_DAY, path)) this.#limitBursts(call);
    if (BODILESS_METHODS.has(request.method)) {
      discardBody(request);
      this.application(call);
      return;
    }
    const { maxBatchBytes, maxBodyBytes, maxJsonBytes } = this.face.parts.limits;
    const { maxMessageBytes } = grant.terms.limits;
    const usual = Math.min(maxBodyBytes, isIn(MESSAGES, path) ? maxMessageBytes : maxJsonBytes);
    const limit = isIn(BATCHES, path) ? maxBatchBytes : usual;
    this.#receive(call, limit, (body) => {
      call.body = body;
      if (isAt(BATCH, path)) call.isOfRun = beginsWithStep(body);
      this.application(call);
    });
  }

  /** @throws Refused 429 */
  #limitBursts({ grant }: QueueCall): void {
    const { maxRequestsPerSecond } = grant.terms.limits;
    if (this.face.bursts.take(grant.account, maxRequestsPerSecond)) return;
    throw new RefusedRequest(QUEUE_REFUSALS.burst, this.face.bursts.headers(maxRequestsPerSecond));
  }

  #receive(call: QueueCall, limitBytes: number, then: (body: Buffer) => void): void {
    const take = (outcome: BodyOutcome) => {
      try {
        if (outcome.kind === 'whole') then(outcome.body);
        else if (outcome.kind === 'too-large' && isAt(BATCH, call.path)) this.#refuseLarge(call, limitBytes);
        else if (outcome.kind !== 'aborted') throw bodyRefused(outcome, limitBytes);
      } catch (failure) {
        this.#fail(call, failure);
      }
    };
    if (call.passed === undefined) this.#bodies.read(call, call.grant.account, limitBytes, take);
    else take(ofRead(call.passed.body, limitBytes));
  }

  /** The form of the refusal depends on the batch's sender, which its first bytes show; they are on their way. */
  #refuseLarge(call: QueueCall, limitBytes: number): void {
    const { request } = call;
    const refused = new RefusedRequest(queueBodyTooLarge(limitBytes));
    if (request.complete || request.headers.expect !== undefined) throw refused;
    const refuse = (beginning?: Buffer) => {
      request.off('data', refuse);
      request.off('end', refuse);
      if (beginning !== undefined && beginsWithStep(beginning)) {
        call.isOfRun = true;
        call.runOfStep = runInBeginning(beginning);
      }
      this.#fail(call, refused);
    };
    request.on('data', refuse);
    request.on('end', refuse);
  }

  #fail(call: QueueCall, failure: unknown): void {
    call.fail(failure);
  }

  /** A missing token does not count as a failed sign-in. @throws Refused 401, 429; CONTROL_STALE */
  #signIn(request: FaceRequest, token: string | undefined): QueueGrant {
    if (token === undefined) throw new RefusedRequest(QUEUE_REFUSALS.unauthorized);
    const { signIns, addresses, parts } = this.face;
    const signingIn = { signIns, address: () => addresses.of(request), secret: token };
    const grant = signedIn(signingIn, () => parts.access.grantForQueueToken(token));
    if (grant === undefined) throw new RefusedRequest(QUEUE_REFUSALS.unauthorized);
    return grant;
  }

  /** Refuses a call whose account is not known yet. */
  #failEarly(request: FaceRequest, response: ServerResponse, failure: unknown, mayBeOfRun: boolean): void {
    const refused = this.face.incidents.refused(failure, queueRefusalOf);
    if (refused.isPassing && mayBeOfRun) cutOff(request);
    else
      writeRefusal({ request, response }, refused, { isLast: this.face.isDraining, leavesBody: isLongBody(request) });
  }
}

/** A call of an endpoint in the middle of a run. */
function isByRun(path: string): boolean {
  return BY_RUNS.some((start) => path.startsWith(start) && path.length > start.length);
}

/** The fixed beginnings of these routes' paths. */
function startsOf(isOne: (route: QueueRoute) => boolean): readonly string[] {
  const paths = QUEUE_FACE_ROUTES.filter(isOne).map(({ paths: [path] }) => path.replace(/[:*].*$/, ''));
  return [...new Set(paths)];
}

function isIn(starts: readonly string[], path: string): boolean {
  return starts.some((start) => (start.endsWith('/') ? path.startsWith(start) : isAt(start, path)));
}

function isAt(route: string, path: string): boolean {
  return path === route || path === `${route}/`;
}
