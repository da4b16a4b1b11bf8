/** The API pages in a browser: they show the whole document, under their content security policy. */
import { expect } from 'chai';
import { ConsoleBrowser } from '../support/browser/console-browser.js';

/** The viewer takes the whole document in before it shows anything: a second, or much longer beside other tests. */
const TAKEN_IN = { timeout: 60_000 };

describe('the API pages in a browser', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.ofTheseTests();

  it('show every area and its operations, without credentials', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs');
    const { page } = visitor;
    const document = (await (await fetch(`${browser.url}/openapi.json`)).json()) as { tags: { name: string }[] };
    for (const { name } of document.tags) await page.locator(`#operations-tag-${name}`).waitFor(TAKEN_IN);
    await page.locator('#operations-tag-queue').click();
    await page.getByText('/v2/enqueue/{queue}/{destination}').click();
    await page.getByText('A URL, as written or completely percent-encoded, or the name of a URL group.').waitFor();
    await page.getByText('unable to authenticate: invalid token').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).to.equal(0);
  });

  it('open at an operation that a link names', async () => {
    // The viewer takes an underscore in a name for an older form of a space, and finds the operation all the same.
    const visitor = (await browser.visitor()).expects(/deep link whitespace/);
    await visitor.open('/docs#/queue/post_v2_queues');
    await visitor.page.getByText('"queueName": "mail"').waitFor(TAKEN_IN);
  });
});
