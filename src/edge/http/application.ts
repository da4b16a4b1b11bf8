/**
 * The routes of a face as a Koa application: what comes behind the handler that has judged who asks. Answers are written
 * by the face's own call, so Koa's rendering is not used.
 */
import Koa from 'koa';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import type { HttpExchange } from './answer.js';

export interface FaceFrame<Call extends HttpExchange> {
  /** The first word of its events in the log: `queue`. */
  readonly name: string;
  readonly log: Log;
  /** Finds the route, judges the call, and has it answered. @throws whatever `refuse` tells */
  run(call: Call, context: Koa.Context): Promise<void>;
  refuse(call: Call, failure: unknown): void;
}

/** Answers a call whose body is there. */
export type Application<Call> = (call: Call) => void;

export function createApplication<Call extends HttpExchange>({
  name,
  log,
  run,
  refuse,
}: FaceFrame<Call>): Application<Call> {
  const calls = new WeakMap<object, Call>();
  const app = new Koa();
  // Errors are answered and logged below; Koa would print them.
  app.silent = true;
  app.on('error', (error) => log.error(`${name}.request.failed`, { error: describeError(error) }));
  app.use(async (context) => {
    const call = calls.get(context.req) as Call;
    context.respond = false;
    try {
      await run(call, context);
    } catch (failure) {
      refuse(call, failure);
    }
  });
  const callback = app.callback();
  return (call) => {
    calls.set(call.request, call);
    void callback(call.request, call.response);
  };
}
