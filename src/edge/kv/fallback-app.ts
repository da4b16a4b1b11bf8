/**
 * What is rare on the key-value face, as a Koa application behind the command routes: preflights, refused
 * methods. Anybody may ask for them, so a long body is not read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { errorToJson } from '../../codec/json/index.js';
import { describeError } from '../../kernel/index.js';
import { REFUSALS, type Refusal, refusalOf } from '../error-map.js';
import { answerUnread, discardBody, isLongBody } from '../http/index.js';
import { ALLOWED_METHODS } from './cors.js';
import type { KvFace } from './kv-face.js';

const METHODS = new Set(ALLOWED_METHODS.split(', '));

export function createFallback(face: KvFace): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Koa();
  // Errors are answered and logged below; Koa would print them.
  app.silent = true;
  app.use(renderFailures(face));
  app.use(answerPreflights(face));
  app.use(refuseMethods());
  const callback = app.callback();
  return (request, response) => {
    if (!isLongBody(request)) discardBody(request);
    void callback(request, response);
  };
}

function renderFailures(face: KvFace): Koa.Middleware {
  return async (context, next) => {
    const { origin } = context.req.headers;
    if (origin !== undefined && context.method !== 'OPTIONS') setAll(context, face.cors.answerHeaders(origin));
    if (face.answers.isDraining) context.set('Connection', 'close');
    try {
      await next();
    } catch (failure) {
      face.log.warn('kv.request.refused', { error: describeError(failure) });
      refuse(context, refusalOf(failure));
    }
  };
}

function answerPreflights(face: KvFace): Koa.Middleware {
  return async (context, next) => {
    if (!face.cors.isPreflight(context.req)) return next();
    setAll(context, face.cors.preflightHeaders(String(context.req.headers.origin)));
    context.status = 200;
    end(context, '');
  };
}

function refuseMethods(): Koa.Middleware {
  return async (context, next) => {
    if (METHODS.has(context.method)) return next();
    context.set('Allow', ALLOWED_METHODS);
    refuse(context, REFUSALS.methodNotAllowed);
  };
}

function refuse(context: Koa.Context, refusal: Refusal): void {
  context.status = refusal.status;
  if (refusal.retryAfterSeconds !== undefined) context.set('Retry-After', String(refusal.retryAfterSeconds));
  context.set('Content-Type', 'application/json');
  end(context, errorToJson(refusal.text));
}

/** Koa would end the answer in any case, and Node then read what is left of the request. */
function end(context: Koa.Context, text: string): void {
  const { req: request, res: response } = context;
  context.respond = false;
  context.length = Buffer.byteLength(text);
  if (!isLongBody(request)) {
    response.end(text);
    return;
  }
  context.set('Connection', 'close');
  answerUnread(request, response, text);
}

function setAll(context: Koa.Context, headers: NodeJS.Dict<number | string | string[]>): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) context.set(name, String(value));
}
