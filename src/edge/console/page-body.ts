/** The whole body of a page's request. */
import { assert, STRANGERS } from '../../kernel/index.js';
import type { HttpExchange } from '../http/answer.js';
import { FaceRequest } from '../http/index.js';
import { bodyRefused } from '../http/refused.js';
import type { ConsoleFace } from './console-face.js';

/**
 * @param tenant the tenant whose budget holds it. Default: unknown clients
 * @throws Refused 413, 503. Never settles after the client has disconnected
 */
export function bodyOf(
  { bodies }: ConsoleFace,
  { request, response }: HttpExchange,
  limitBytes: number,
  tenant: string = STRANGERS,
): Promise<Buffer> {
  assert(request instanceof FaceRequest, 'a request that no face server has received');
  return new Promise((resolve, reject) => {
    bodies.read({ request, response }, tenant, limitBytes, (outcome) => {
      if (outcome.kind === 'whole') resolve(outcome.body);
      else if (outcome.kind !== 'aborted') reject(bodyRefused(outcome, limitBytes));
    });
  });
}
