/**
 * The HTTP pipeline on Koa, and the middleware that endpoints share: refusals, bodies. routing.ts has the routes.
 *
 *  KOA1 the body is read before the first middleware that awaits: its pieces arrive in the same tick as the request
 *       and would be lost without a reader
 *  KOA2 every failure is answered once, in the documented form, and never with a stack trace
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa, { type Middleware, type ParameterizedContext } from 'koa';
import { assert, describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import type { Refusal } from '../error-map.js';
import { type Answer, writeRefusal } from './answer.js';
import { bodyRefused, type RefusedRequest } from './refused.js';
import {
  BODILESS_METHODS,
  discardBody,
  EndpointRequest,
  isLongBody,
  ofRead,
  type RequestBodyReader,
} from './request-body.js';

/**
 * A call that another endpoint of this process makes for a client. The other endpoint has checked the client and read
 * the body, and these members replace the members of the client's request.
 */
export interface PassedCall {
  /** The target, as a client of the called endpoint would send it. */
  readonly url: string;
  readonly token: string;
  /** Alternating names and values, without credentials. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** State that this file leaves for later middleware. */
export interface PipelineState {
  /** The body, after `readsBody`. */
  body?: Buffer;
  /** Default: the body was not requested. */
  isBodyAsked?: boolean;
  /** Default: the request is the client's own. */
  passed?: PassedCall;
  /** Methods of the declared paths that match, until a route with the request's method is found. */
  allowedMethods?: string[];
}

export type PipelineContext<State = object> = ParameterizedContext<State & PipelineState>;
export type Stage<State = object> = (context: PipelineContext<State>, next: () => Promise<unknown>) => Promise<unknown>;

/** Runs stages one after the other, as Koa does. */
export function inOrder<State>(stages: readonly Stage<State>[]): Stage<State> {
  return stages.reduceRight<Stage<State>>(
    (rest, stage) => (context, next) => stage(context, () => rest(context, next)),
    (_context, next) => next(),
  );
}

/** @param name of the endpoint: the first word of its log events */
export function createApplication(
  name: string,
  log: Log,
  stages: readonly Middleware[],
): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Koa();
  // `answersRefusals` answers errors; Koa would print them.
  app.silent = true;
  app.on('error', (error) => log.error(`${name}.request.failed`, { error: describeError(error) }));
  for (const stage of stages) app.use(stage);
  const callback = app.callback();
  return (request, response) => void callback(request, response);
}

/** Sets Koa's response. Koa does not write to a client that has disconnected. */
export function answer(
  context: PipelineContext,
  { status, text, type, headers = {}, isLast }: Omit<Answer, 'text'> & { readonly text: string | Buffer },
): void {
  context.status = status;
  context.set(headers);
  if (type !== '') context.set('Content-Type', type ?? 'application/json');
  if (isLast) context.set('Connection', 'close');
  context.body = text;
}

/** Gives the response to a handler that streams it. */
export function takeOver(context: PipelineContext): ServerResponse {
  context.respond = false;
  return context.res;
}

/** Middleware of an endpoint that does not stand on Koa, for calls that Koa's endpoints pass to it. */
export function passedTo(
  run: (exchange: { readonly request: EndpointRequest; readonly response: ServerResponse }, call: PassedCall) => void,
): Middleware {
  return async (context) => {
    const { req: request, state } = context as PipelineContext;
    assert(request instanceof EndpointRequest, 'a request that no server of ours has received');
    assert(state.passed !== undefined, 'a call that was not passed');
    run({ request, response: takeOver(context) }, state.passed);
  };
}

export interface RefusalStyle<State> {
  refusedOf(failure: unknown): RefusedRequest;
  /** The body of the answer. Default: `{"error": "…"}`. */
  textOf?(refused: RefusedRequest, state: Partial<State>): string;
  readonly type?: string;
  /** Default: none. */
  headersOf?(context: PipelineContext<State>): Readonly<Record<string, string>>;
  isDraining(): boolean;
  /** Default: every refusal. */
  leavesBodyOf?(refusal: Refusal): boolean;
}

/**
 * Answers failures (KOA2: once, in the documented form). A long body that was not requested is left unread, and the
 * connection closes after the answer.
 */
export function answersRefusals<State = object>(style: RefusalStyle<State>): Stage<State> {
  return async (context, next) => {
    try {
      await next();
    } catch (failure) {
      const refused = style.refusedOf(failure);
      const { req: request, res: response } = context;
      if (response.headersSent) {
        takeOver(context).destroy();
        return;
      }
      const { refusal, headers } = refused;
      const text = style.textOf?.(refused, context.state) ?? JSON.stringify({ error: refusal.text });
      const mayLeaveBody = context.state.isBodyAsked !== true && (style.leavesBodyOf?.(refusal) ?? true);
      const leavesBody = mayLeaveBody && isLongBody(request);
      const how = {
        text,
        headers: style.headersOf?.(context) ?? {},
        isLast: style.isDraining(),
        ...(style.type ? { type: style.type } : {}),
      };
      takeOver(context);
      writeRefusal({ request, response }, { refusal, headers }, { ...how, leavesBody });
    }
  };
}

export interface BodyBound<State> {
  readonly bodies: RequestBodyReader;
  /** The tenant whose budget holds the body. */
  tenantOf(context: PipelineContext<State>): string;
  limitBytesOf(context: PipelineContext<State>): number;
  /** Reads the body of a GET or HEAD, too. Default: it has no meaning and is discarded. */
  readonly isOfAnyMethod?: boolean;
}

/** Reads the body; methods without a body get an empty buffer. @throws Refused 413, 503 */
export function readsBody<State = object>(bound: BodyBound<State>): Stage<State> {
  return async (context, next) => {
    const { req: request, res: response, state } = context;
    state.isBodyAsked = true;
    state.body = state.passed?.body ?? Buffer.alloc(0);
    if (state.passed !== undefined) {
      const limitBytes = bound.limitBytesOf(context);
      const outcome = ofRead(state.passed.body, limitBytes);
      if (outcome.kind === 'too-large') throw bodyRefused(outcome, limitBytes);
      return next();
    }
    if (bound.isOfAnyMethod !== true && BODILESS_METHODS.has(request.method)) discardBody(request);
    else {
      const limitBytes = bound.limitBytesOf(context);
      const outcome = await new Promise<Parameters<Parameters<RequestBodyReader['read']>[3]>[0]>((resolve) =>
        bound.bodies.read({ request, response }, bound.tenantOf(context), limitBytes, resolve),
      );
      if (outcome.kind === 'aborted') {
        takeOver(context);
        return;
      }
      if (outcome.kind !== 'whole') throw bodyRefused(outcome, limitBytes);
      state.body = outcome.body;
    }
    return next();
  };
}
