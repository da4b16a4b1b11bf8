/** DLQ entries in the console: finding, reading, retrying and deleting one, several and all matching ones. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

describe('console: the DLQ', function () {
  this.timeout(180_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    await stand.fail(2, 'busy', 503);
    await stand.fail(3, 'broken', 500);
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  const letters = (page: Page, query = '') => page.goto(`${stand.url}/console/dead-letters${query}`);
  const rows = (page: Page) => page.locator('tbody tr');
  const isCount = (page: Page, count: number) =>
    eventually(async () => expect(await rows(page).count()).to.equal(count));
  const total = async (label: string) =>
    ((await stand.call('GET', `/v2/dlq/counts?label=${label}`)) as { total: number }).total;

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}, also with an open entry`, async () => {
      const person = await stand.person(view);
      await letters(person.page);
      await rows(person.page).first().waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
      await rows(person.page).first().getByRole('link').first().click();
      await person.page.getByRole('dialog').getByText('Last answer').waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('counts entries by status, and filters by status and label with the filters in the address', async () => {
    const { page } = await stand.person();
    await letters(page);
    await page.getByRole('button', { name: '503 2' }).click();
    await isCount(page, 2);
    await page.getByRole('button', { name: '500 3' }).waitFor();
    await page.getByLabel('Label').fill('broken');
    await page.getByLabel('Label').press('Enter');
    await page.getByText('No dead letter meets these filters').waitFor();
    expect(page.url())
      .to.match(/responseStatus=503/)
      .and.match(/label=broken/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await isCount(page, 5);
  });

  it('shows request and answer as text, and links to the message', async () => {
    const [id] = await stand.fail(1, 'looked-at');
    const { page } = await stand.person();
    await letters(page, '?label=looked-at');
    await rows(page).getByRole('link').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Last answer').waitFor();
    expect(await dialog.textContent())
      .to.include('letter 0')
      .and.include('<b>not today</b>')
      .and.include('500');
    await eventually(() => expect(page.url()).to.match(/entry=/));
    await dialog.getByRole('link', { name: 'Whole story' }).click();
    await eventually(() => expect(page.url()).to.include(`/console/messages/${id}`));
  });

  it('shows new entries without a reload', async () => {
    const { page } = await stand.person();
    await letters(page, '?label=appears');
    await page.getByText('No dead letter meets these filters').waitFor();
    await stand.fail(1, 'appears');
    await isCount(page, 1);
  });

  it('retries and deletes an entry from its window', async () => {
    await stand.fail(2, 'single');
    const { page } = await stand.person();
    for (const [action, left] of [
      ['Retry', 1],
      ['Delete', 0],
    ] as const) {
      await letters(page, '?label=single');
      await rows(page).last().getByRole('link').first().click();
      // A retried message that fails again would come back as another entry.
      stand.stopFailing();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await eventually(async () => expect(await total('single')).to.equal(left));
    }
    await page.getByText('No dead letter meets these filters').waitFor();
  });

  it('deletes the selected entries', async () => {
    await stand.fail(3, 'chosen');
    const { page } = await stand.person();
    await letters(page, '?label=chosen');
    await isCount(page, 3);
    await page.locator('tbody input').nth(0).check();
    await page.locator('tbody input').nth(2).check();
    await page.getByRole('button', { name: 'Delete 2 chosen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await isCount(page, 1);
    expect(await total('chosen')).to.equal(1);
  });

  it('retries all matching entries: shows their number, then the progress, and takes none twice', async () => {
    await stand.fail(230, 'many');
    const { page } = await stand.person();
    await letters(page, '?label=many');
    await page.getByRole('button', { name: 'Retry all that match' }).click();
    await page.getByText('230 dead letters meet the filters now').waitFor();
    await page.getByRole('button', { name: 'Retry all of them' }).click();
    await page.getByText('230 of 230 sent again; that was all').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await eventually(async () => expect(await total('many')).to.equal(230));
  });

  it('stops on request, and keeps the remaining entries', async () => {
    await stand.fail(250, 'stopped');
    const { page } = await stand.person();
    let calls = 0;
    let isStopped = () => {};
    const stopped = new Promise<void>((resolve) => {
      isStopped = resolve;
    });
    await page.route(/\/v2\/dlq\?/, async (route) => {
      if (route.request().method() === 'DELETE') {
        calls += 1;
        if (calls === 2) await stopped;
      }
      await route.continue().catch(() => {});
    });
    await letters(page, '?label=stopped');
    await page.getByRole('button', { name: 'Delete all that match' }).click();
    await page.getByRole('button', { name: 'Delete all of them' }).click();
    await page.getByText('100 of 250 deleted').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('stopped, the others are unchanged').waitFor();
    isStopped();
    expect(await total('stopped')).to.equal(150);
  });

  it('shows no buttons for changes to a read-only key', async () => {
    const { page } = await stand.person(undefined, await stand.readOnlyKey('looks'));
    await letters(page);
    await rows(page).first().waitFor();
    expect(await page.locator('tbody input').count()).to.equal(0);
    expect(await page.getByRole('button', { name: /Retry|Delete/ }).count()).to.equal(0);
    await rows(page).first().getByRole('link').first().click();
    await page.getByRole('dialog').getByRole('link', { name: 'Whole story' }).waitFor();
    expect(await page.getByRole('dialog').getByRole('button').allTextContents()).to.deep.equal(['', 'Copy', 'Copy']);
  });
});
