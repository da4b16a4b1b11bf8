/** A face that answers on the port of another one, for all paths that begin as its own do. Its answers hold data of tenants. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describeError } from '../../kernel/index.js';
import type { Log } from '../../ports/index.js';
import { isStranger, type Refusal } from '../error-map.js';
import { type HttpExchange, PRIVATE_HEADERS, writeRefusal } from './answer.js';
import { RefusedRequest } from './refused.js';
import { isLongBody } from './request-body.js';
import { foundRoute } from './request-metrics.js';

/** @returns false, and has done nothing, for the path of something else. Requests are those of a face server */
export type Mounted = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface MountedFace {
  /** The first word of its events in the log. */
  readonly name: string;
  /** What its paths begin with. */
  readonly root: string;
  readonly log: Log;
  readonly isDraining: () => boolean;
  /** @throws whatever `wording` has words for; Refused */
  answer(exchange: HttpExchange, path: string, query: URLSearchParams): Promise<void>;
  wording(failure: unknown): Refusal;
}

export function mounted(face: MountedFace): Mounted {
  return (request, response) => {
    const target = request.url as string;
    if (!target.startsWith(face.root)) return false;
    // Until its own route has been found, if it has any.
    foundRoute(request, `${face.root}*`);
    const [path = '', ...rest] = target.split('?');
    const exchange = { request, response };
    face
      .answer(exchange, path, new URLSearchParams(rest.join('?')))
      .catch((failure: unknown) => refuse(face, exchange, failure));
    return true;
  };
}

function refuse(face: MountedFace, exchange: HttpExchange, failure: unknown): void {
  const refused = failure instanceof RefusedRequest ? failure : new RefusedRequest(face.wording(failure));
  const { refusal } = refused;
  if (refusal.status === 500) face.log.error(`${face.name}.request.failed`, { error: describeError(failure) });
  if (exchange.response.headersSent) {
    exchange.response.destroy();
    return;
  }
  const leavesBody = isStranger(refusal) && isLongBody(exchange.request);
  writeRefusal(exchange, refused, { headers: PRIVATE_HEADERS, isLast: face.isDraining(), leavesBody });
}
