/** The documentation's site in a browser, under its content security policy. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';

describe('the documentation in a browser', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();

  it('finds a section by its words, and opens it with Enter', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs');
    const { page } = visitor;
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox').fill('redacting secr');
    await page.locator('.found').getByText('Redacting secrets').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guide/publishing.html#redacting-secrets');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill('zzzzqqqq');
    await page.getByText('No section has “zzzzqqqq”.').waitFor();
  });

  it('shows the results for the words of the address: /docs/?q=…', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs/?q=redacting+secrets');
    await visitor.page.locator('.found').getByText('Redacting secrets').waitFor();
  });

  it('shows the chosen language in all tabs, also on the next page', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs/concepts/databases.html');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Python' }).click();
    await page.getByText('from urllib.request import').waitFor();
    expect(await page.getByText('await fetch(').isVisible()).to.equal(false);
    await visitor.open('/docs/concepts/messages.html');
    await page.getByText('from urllib.request import').waitFor();
    expect(await page.getByText('await fetch(').isVisible()).to.equal(false);
  });

  it('keeps the theme that was chosen, together with the console', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs/');
    const { page } = visitor;
    const theme = () => page.evaluate('document.documentElement.dataset.theme');
    await page.getByRole('button', { name: 'Light or dark' }).click();
    expect(await theme()).to.equal('dark');
    await visitor.open('/docs/guide/publishing.html');
    expect(await theme()).to.equal('dark');
    await visitor.open('/console/');
    await page.getByLabel('E-mail').waitFor();
    expect(await theme()).to.equal('dark');
  });

  it('opens at an operation that a link of an earlier version names', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/docs#/queue/post_v2_queues');
    await visitor.page.waitForURL('**/docs/api/queue.html#post_v2_queues');
    await visitor.page.locator('#post_v2_queues').waitFor();
  });

  it('shows a page for an unknown address, with the navigation', async () => {
    const visitor = (await browser.visitor()).allowProblem(/^404 .*none$/);
    await visitor.open('/docs/guide/none');
    await visitor.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await visitor.page.getByRole('link', { name: 'All sections' }).click();
    await visitor.page.getByRole('heading', { name: 'Millrace documentation' }).waitFor();
  });

  for (const view of VIEWS) {
    it(`is accessible and fits the screen: ${view.width} px, ${view.scheme}`, async () => {
      const visitor = await browser.visitor(view);
      for (const path of [
        '/docs/',
        '/docs/concepts/messages.html',
        '/docs/guide/publishing.html',
        '/docs/api/kv.html',
      ]) {
        await visitor.open(path);
        await visitor.page.getByRole('heading', { level: 1 }).waitFor();
        expect(await visitor.inaccessible(), path).to.deep.equal([]);
        expect(await visitor.isTooWide(), path).to.equal(false);
      }
      if (view.width < 860) {
        await visitor.page.getByRole('button', { name: 'Menu' }).click();
        await visitor.page.getByRole('navigation', { name: 'Documentation' }).getByText('Operations').waitFor();
      }
    });
  }
});
