/** The overview: open problems first, figures and charts; and the palette that finds objects by name. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

describe('console: the overview', function () {
  this.timeout(60_000);
  const browser = ConsoleBrowser.ofTheseTests();

  before(async () => {
    await browser.process.kv.command('SET', 'greeting', 'hello');
    await browser.process.kv.command('GET', 'greeting');
  });

  for (const view of VIEWS) {
    it(`shows figures and charts, fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      await person.page.getByRole('heading', { name: 'Commands' }).waitFor();
      await person.page.locator('canvas').nth(5).waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('counts the keys of databases', async () => {
    const { page } = await browser.person();
    const keys = page.getByRole('link', { name: /^Keys/ });
    await eventually(async () => {
      await page.reload();
      await keys.waitFor();
      expect(await keys.textContent()).to.match(/^Keys1/);
    });
  });

  it('shows an open problem, with a link to it', async () => {
    const name = 'suspended';
    const made = await browser.manage('POST', '/v2/kv/database', { database_name: name, primary_region: 'eu-west-1' });
    const { database_id: id } = made.json as { database_id: string };
    await browser.command('db', 'suspend', id);
    const { page } = await browser.person();
    await page.getByRole('link', { name: `${name} is suspended` }).click();
    await eventually(() => expect(page.url()).to.include(`/console/databases/${id}`));
  });

  it('shows another period, which is in the address', async () => {
    const { page } = await browser.person();
    await page.getByRole('button', { name: 'Week' }).click();
    await eventually(() => expect(page.url()).to.match(/period=7d/));
    expect(await page.getByRole('button', { name: 'Week' }).getAttribute('aria-pressed')).to.equal('true');
  });

  it('shows the values under the crosshair', async () => {
    const { page } = await browser.person();
    const chart = page.locator('figure.chart').first();
    await chart.locator('canvas').waitFor();
    const shown = () => chart.locator('figcaption span').textContent();
    const newest = await shown();
    const plot = chart.locator('.u-over');
    const box = await plot.boundingBox();
    await plot.hover({ position: { x: (box?.width ?? 0) / 4, y: 20 } });
    await eventually(async () => expect(await shown()).not.to.equal(newest));
  });

  it('finds a database by its name, and a key in it', async () => {
    const { page } = await browser.person();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('defau');
    await page.getByRole('option', { name: 'default database' }).click();
    await eventually(() => expect(page.url()).to.match(/\/console\/databases\/[0-9a-f-]{36}$/));
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('greeting');
    const key = page.getByRole('option', { name: 'Key greeting in default' });
    await key.waitFor();
  });

  it('opens a message by its id', async () => {
    const person = (await browser.person()).expects(/^404 .*msg_none/);
    await person.page.keyboard.press('Control+k');
    await person.page.getByRole('combobox', { name: 'Search' }).fill('msg_none');
    await person.page.keyboard.press('Enter');
    await eventually(() => expect(person.page.url()).to.match(/\/console\/messages\/msg_none$/));
  });
});
