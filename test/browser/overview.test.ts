/** The overview: open problems first, figures and charts; and the palette that finds objects by name. */
import { expect } from 'chai';
import { ConsoleBrowser, EMAIL, KEY, VIEWS } from '../support/browser/console-browser.js';
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

  it('has no alarm on a fresh installation, only a note', async () => {
    const { page } = await browser.person();
    await page.getByText('No problems.').waitFor();
    const notes = page.getByRole('list', { name: 'Notes' });
    expect(await notes.textContent()).to.include('has not verified the journals recently');
    expect(await page.locator('#main').locator('.note.warn, .note.bad').count()).to.equal(0);
  });

  it('says that a chart has no data, and writes "1 database"', async () => {
    const { page } = await browser.person();
    const messages = page.locator('figure.chart').filter({ has: page.getByRole('heading', { name: 'Messages' }) });
    await messages.getByText('Nothing in this period').waitFor();
    const commands = page.locator('figure.chart').filter({ has: page.getByRole('heading', { name: 'Commands' }) });
    await commands.locator('canvas').waitFor();
    expect(await commands.getByText('Nothing in this period').count()).to.equal(0);
    expect(await page.getByRole('link', { name: /^Keys/ }).textContent()).to.match(/in 1 database$/);
  });

  it('has ticks at powers of two on an axis of bytes', async () => {
    const person = await browser.visitor();
    const { page } = person;
    await page.addInitScript(`
      const draw = CanvasRenderingContext2D.prototype.fillText;
      globalThis.drawnTexts = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        globalThis.drawnTexts.push(text);
        return draw.call(this, text, ...rest);
      };
    `);
    await person.open('/console/');
    await person.signIn(EMAIL, KEY);
    await eventually(async () => {
      const texts = await page.evaluate<string[]>('globalThis.drawnTexts');
      const ticks = texts.map((text) => /^([\d.]+) (B|KiB)$/.exec(text)).filter((match) => match !== null);
      const bytes = [...new Set(ticks.map(([, value, unit]) => Number(value) * (unit === 'B' ? 1 : 1024)))];
      expect(bytes.length).to.be.above(1);
      const step = Math.min(...bytes.filter((value) => value > 0));
      expect(Math.log2(step) % 1, String(bytes)).to.equal(0);
      for (const value of bytes) expect(value % step, String(bytes)).to.equal(0);
    });
  });

  it("writes numbers and times in the browser's language", async () => {
    const { page } = await browser.person({ width: 1280, scheme: 'light', locale: 'de-DE' });
    const chart = page.locator('figure.chart').first();
    await chart.locator('canvas').waitFor();
    expect(await chart.locator('figcaption span').textContent()).to.match(/^\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2}:\d{2}$/);
  });

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

  it('lists a key for the databases that have it, and none for a name without a key', async () => {
    await browser.manage('POST', '/v2/kv/database', { database_name: 'without-keys', primary_region: 'eu-west-1' });
    const { page } = await browser.person();
    await page.keyboard.press('Control+k');
    const looked = (text: string) =>
      Promise.all([
        page.waitForResponse((answer) => answer.request().postData()?.includes(`"${text}"`) ?? false),
        page.getByRole('combobox', { name: 'Search' }).fill(text),
      ]);
    await looked('greetin');
    await looked('greeting');
    await page.getByRole('option', { name: 'Key greeting in default' }).waitFor();
    expect(await page.getByRole('option', { name: /^Key / }).allTextContents()).to.deep.equal([
      'Key greetingin default',
    ]);
    await looked('greeting-2');
    await eventually(async () => expect(await page.getByRole('option', { name: /^Key / }).count()).to.equal(0));
  });

  it('opens a message by its id', async () => {
    const person = (await browser.person()).expects(/^404 .*msg_none/);
    await person.page.keyboard.press('Control+k');
    await person.page.getByRole('combobox', { name: 'Search' }).fill('msg_none');
    await person.page.keyboard.press('Enter');
    await eventually(() => expect(person.page.url()).to.match(/\/console\/messages\/msg_none$/));
  });
});
