/**
 * The number of requests to endpoints of the published client: with the entries in each delivery, and with entries that
 * are fetched.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { startTogether } from '../../support/together.js';
import { kindOf } from '../../support/workflow-app.js';
import { WorkflowStand } from '../../support/workflow-stand.js';
import { COUNTED_FLOWS } from './counted-flows.js';
import { COUNTED_TREES } from './counted-trees.js';

const FLOWS = [...COUNTED_FLOWS, ...COUNTED_TREES];
const ARRANGEMENTS = [
  { title: 'with their entries', env: {}, isFetched: false },
  { title: 'with fetched entries', env: { MILLRACE_WORKFLOW_INLINE_BYTES: '1' }, isFetched: true },
];

describe('deliveries of runs', function () {
  this.timeout(120_000);
  let stands: readonly WorkflowStand[] = [];
  before(async () => {
    stands = await Promise.all(ARRANGEMENTS.map(({ env }) => WorkflowStand.start(env)));
  });
  after(() => Promise.all(stands.map((stand) => stand.stop())));

  const together = startTogether();
  for (const [index, { title, isFetched }] of ARRANGEMENTS.entries())
    describe(title, () => {
      const stand = () => stands[index] as WorkflowStand;
      const requestsTo = (url: string) =>
        stand()
          .app.under(url)
          .map((post) => `${post.path} ${kindOf(post)} ${post.status}`);
      const counts = new Map<string, number>();
      for (const { title, count, run } of FLOWS) {
        together(`${title}: ${count}`, async () => {
          const url = await run(stand());
          counts.set(url, count);
          await eventually(() => expect(requestsTo(url), 'requests').to.have.length(count));
        });
      }

      it('are no more after all runs have ended', () => {
        expect(counts.size).to.equal(FLOWS.length);
        for (const [url, count] of counts) expect(requestsTo(url)).to.have.length(count);
      });

      it(`of a step have ${isFetched ? 'no' : 'a'} body`, () => {
        const steps = stand().app.posts.filter((post) => kindOf(post) === 'step');
        expect(steps.length).to.be.above(100);
        expect(steps.filter(({ body }) => (body === '') !== isFetched).map(({ path }) => path)).to.deep.equal([]);
        // An adapter recognises them by these two headers.
        const known = { 'content-type': 'application/json', 'content-length': '0' };
        if (isFetched) for (const { headers } of steps) expect(headers).to.include(known);
      });
    });
});
