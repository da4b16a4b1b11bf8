/** How much fits on a page of the console: rows, widths, cards on narrow pages, and the form of times. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, type View } from '../support/browser/console-browser.js';

const ROW_PX = 28;
const SIDE_PX = 216;
/** The space that the browser keeps for its scroll bar. */
const SCROLLBAR_PX = 16;
const EXACT = /\d{1,2}:\d{2}:\d{2}\.\d{3} [AP]M/;

describe('console: density', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();

  const keys = async (view: View) => {
    const person = await browser.person(view);
    await person.open('/console/team?tab=keys');
    await person.page.locator('tbody tr').first().waitFor();
    return person;
  };
  const times = (page: Page) => page.locator('tbody time');

  it(`gives a table row of one line ${ROW_PX} px, and the page the whole width of 1920 px`, async () => {
    const { page } = await keys({ width: 1920, scheme: 'light' });
    const row = await page.locator('tbody tr').first().boundingBox();
    expect(row?.height).to.be.within(ROW_PX - 1, ROW_PX + 1);
    const main = await page.locator('#main').boundingBox();
    expect(main?.width).to.be.at.least(1920 - SIDE_PX - SCROLLBAR_PX);
  });

  it('shows the rows of a table as cards at 390 px, each cell with the title of its column', async () => {
    const person = await keys({ width: 390, scheme: 'dark' });
    const { page } = person;
    expect(await page.locator('thead').first().isVisible()).to.equal(false);
    const title = await page.evaluate(
      "getComputedStyle(document.querySelector('tbody td[data-title]'), '::before').content",
    );
    expect(title).to.match(/^"\w+"$/);
    expect(await person.isTooWide()).to.equal(false);
  });

  it('shows a time with its milliseconds on hover, in UTC after the switch, also after a reload', async () => {
    const { page } = await keys({ width: 1280, scheme: 'light' });
    expect(await times(page).first().getAttribute('title')).to.match(EXACT);
    await page.getByRole('button', { name: 'UTC' }).click();
    expect(await times(page).first().getAttribute('title')).to.match(new RegExp(`${EXACT.source} UTC$`));
    await page.reload();
    await times(page).first().waitFor();
    expect(await page.getByRole('button', { name: 'UTC' }).getAttribute('aria-pressed')).to.equal('true');
    expect(await times(page).first().getAttribute('title')).to.match(/UTC$/);
  });
});
