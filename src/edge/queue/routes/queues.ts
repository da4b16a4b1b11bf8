/** `/v2/queues`. */
import { nameProblem } from '../../../domain/queue/index.js';
import { assert } from '../../../kernel/index.js';
import { parseJson } from '../../http/json-items.js';
import { invalid } from '../../http/refused.js';
import { queueRecord } from '../records/resource-records.js';
import { SetQueueRequest } from '../requests/set-queue.js';
import type { PathParts, Routes } from './routes.js';

export const queueRoutes: Routes = (add) => {
  add('post', '/v2/queues', async (call) => {
    call.mustBeAllowedToChange();
    const { queueName, parallelism, paused } = SetQueueRequest.from(parseJson(call.body));
    await call.ask({ type: 'SetQueue', name: queueName, parallelism, isPaused: paused }, 'Done');
    call.done();
  });

  add('get', '/v2/queues', async (call) => {
    const { queues } = await call.ask({ type: 'ListQueues' }, 'Queues');
    await call.list(['[', ']'], queues, queueRecord);
  });

  add('get', '/v2/queues/:name', async (call, parts) => {
    const { queues } = await call.ask({ type: 'GetQueue', name: nameIn(parts) }, 'Queues');
    const [queue] = queues;
    assert(queue !== undefined, 'a queue that was found is missing');
    call.value(200, queueRecord(queue));
  });

  add('delete', '/v2/queues/:name', async (call, parts) => {
    call.mustBeAllowedToChange();
    await call.ask({ type: 'DeleteQueue', name: nameIn(parts) }, 'Done');
    call.done();
  });

  for (const [action, isPaused] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    add('post', `/v2/queues/:name/${action}`, async (call, parts) => {
      call.mustBeAllowedToChange();
      await call.ask({ type: 'PauseQueue', name: nameIn(parts), isPaused }, 'Done');
      call.done();
    });
  }
};

/** @throws Refused 400 */
function nameIn({ name = '' }: PathParts): string {
  const problem = nameProblem('queue name', name);
  if (problem !== undefined) throw invalid(problem);
  return name;
}
