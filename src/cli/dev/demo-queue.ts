/** Messages, a queue, schedules and runs of a workflow, all of them called at the demo's own receiver. */
import type { Api } from './api.js';

const MESSAGES = 40;
const LETTERS = 5;
const RUNS = 5;

/** @param receiver where the demo's receiver listens. @throws when something is refused */
export async function fillQueue(api: Api, receiver: string) {
  const batch = Array.from({ length: MESSAGES }, (_, at) => ({
    destination: `${receiver}/orders`,
    // Some come later, so that there is something that waits.
    headers: at % 4 === 3 ? { 'Svc-Delay': `${at * 15}s` } : {},
    body: JSON.stringify({ order: at + 1 }),
  }));
  await api.ask('POST', '/v2/batch', batch);
  const once = { 'Svc-Retries': '1', 'Svc-Retry-Delay': '1000' };
  await api.ask('POST', `/v2/publish/${receiver}/broken`, 'nobody takes this', once);
  await api.ask('POST', '/v2/queues', { queueName: 'letters', parallelism: 1 });
  for (let letter = 1; letter <= LETTERS; letter += 1) {
    await api.ask('POST', `/v2/enqueue/letters/${receiver}/letters/${letter}`, `letter ${letter}`);
  }
  const schedules = [
    ['every-minute', '* * * * *'],
    ['monday', 'CRON_TZ=Europe/Berlin 0 8 * * 1'],
  ] as const;
  for (const [id, cron] of schedules) {
    const headers = { 'Svc-Cron': cron, 'Svc-Schedule-Id': id };
    await api.ask('POST', `/v2/schedules/${receiver}/scheduled/${id}`, 'tick', headers);
  }
  for (let id = 1; id <= RUNS; id += 1) {
    await api.ask('POST', `/v2/trigger/${receiver}/workflow`, { id, items: id });
  }
  return { sent: MESSAGES + 1 + LETTERS, schedules: schedules.length, runs: RUNS };
}
