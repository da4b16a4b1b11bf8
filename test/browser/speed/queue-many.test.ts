/** A hundred thousand messages: how soon the first rows are there. */
import { expect } from 'chai';
import { QueueStand } from '../../support/browser/queue-stand.js';
import { eventually } from '../../support/eventually.js';

const MESSAGES = 100_000;
const A_CALL = 1_000;
const ROUNDS = 9;
const FIRST_ROWS_MS = 500;

describe('console in a browser: many messages', function () {
  this.timeout(60_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    const items = Array.from({ length: A_CALL }, (_, at) => ({
      destination: stand.sink.url(`/many/${at % 50}`),
      body: `message ${at}`,
      headers: { 'Svc-Delay': '5h', 'Svc-Label': `label-${at % 20}` },
    }));
    for (let sent = 0; sent < MESSAGES; sent += A_CALL) await stand.call('POST', '/v2/batch', items);
    await eventually(async () => {
      const { messages } = (await stand.call('GET', '/v2/logs?groupBy=messageId&count=1')) as { messages: unknown[] };
      expect(messages).to.have.length(1);
    });
  });
  afterEach(() => stand.allIsWell());
  after(() => stand.end());

  for (const [what, from, link] of [
    ['all', '/console/dead-letters', /^Queue$/],
    ['those that are scheduled', '/console/queue?state=failed', /^Scheduled\d/],
    ['those of a label', '/console/queue?state=failed&label=label-3', /^Scheduled\d/],
  ] as const) {
    it(`shows the first of ${what} within ${FIRST_ROWS_MS} ms, median of ${ROUNDS}`, async () => {
      const { page } = await stand.person();
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        await page.goto(stand.url + from);
        await page.locator('main .empty').waitFor();
        const before = performance.now();
        await page.getByRole('link', { name: link }).click();
        await page.locator('tbody tr').first().waitFor();
        times.push(performance.now() - before);
      }
      times.sort((a, b) => a - b);
      expect(times[(ROUNDS - 1) / 2], times.map(Math.round).join(' ')).to.be.below(FIRST_ROWS_MS);
    });
  }
});
