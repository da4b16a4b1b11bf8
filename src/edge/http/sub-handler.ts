/** An endpoint on the management port, for all paths below its root. Its answers hold tenants' data. */
import type { Middleware } from 'koa';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { isStranger, type Refusal } from '../error-map.js';
import { PRIVATE_HEADERS } from './answer.js';
import { answersRefusals, type PipelineContext, type Stage } from './application.js';
import { RefusedRequest } from './refused.js';
import { foundRoute } from './request-metrics.js';

export interface SubHandlerParts<State> {
  /** The first word of its log events. */
  readonly name: string;
  /** The prefix of its paths. */
  readonly root: string;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** @throws Refused; any error that `wording` knows */
  readonly answer: (context: PipelineContext<State>, next: () => Promise<unknown>) => Promise<unknown>;
  wording(failure: unknown): Refusal;
}

/** Passes requests with other paths to the next middleware. */
export function subHandler<State = object>(endpoint: SubHandlerParts<State>): Middleware {
  const { name, root, log, isDraining, answer, wording } = endpoint;
  const refusing: Stage<State> = answersRefusals({
    refusedOf: (failure) => {
      const refused = failure instanceof RefusedRequest ? failure : new RefusedRequest(wording(failure));
      if (refused.refusal.status === 500) log.error(`${name}.request.failed`, { error: describeError(failure) });
      return refused;
    },
    // Only the long body of an unknown caller is left unread; the body of a known caller is read and discarded up to
    // a limit.
    leavesBodyOf: isStranger,
    headersOf: () => PRIVATE_HEADERS,
    isDraining,
  });
  return (context, next) => {
    if (!context.url.startsWith(root)) return next();
    // The route's label until a declared route is found.
    foundRoute(context.req, `${root}*`);
    const typed = context as PipelineContext<State>;
    return refusing(typed, () => answer(typed, next));
  };
}
