/** The overview: open problems first, figures and charts; and the palette that finds objects by name. */
import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import { KEY, VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

describe('console: the overview', function () {
  this.timeout(180_000);
  const browser = new QueueStand();

  before(async () => {
    await browser.start();
    await browser.process.kv.command('SET', 'greeting', 'hello');
    await browser.process.kv.command('GET', 'greeting');
  });
  afterEach(() => browser.closePages());
  after(() => browser.end());

  for (const view of VIEWS) {
    it(`shows figures and charts, fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.personAt('/console/', KEY, view);
      await person.page.getByRole('heading', { name: 'Commands' }).waitFor();
      await person.page.locator('canvas').nth(5).waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('has no alarm on a fresh installation, only a note', async () => {
    const { page } = await browser.personAt('/console/');
    await page.getByText('No problems.').waitFor();
    const notes = page.getByRole('list', { name: 'Notes' });
    expect(await notes.textContent()).to.include('has not verified the journals recently');
    expect(await page.locator('#main').locator('.note.warn, .note.bad').count()).to.equal(0);
  });

  it('says that a chart has no data, and writes "1 database"', async () => {
    const { page } = await browser.personAt('/console/');
    const messages = page.locator('figure.chart').filter({ has: page.getByRole('heading', { name: 'Messages' }) });
    await messages.getByText('No data in this period').waitFor();
    const commands = page.locator('figure.chart').filter({ has: page.getByRole('heading', { name: 'Commands' }) });
    await commands.locator('canvas').waitFor();
    expect(await commands.getByText('No data in this period').count()).to.equal(0);
    expect(await page.getByRole('link', { name: /^Keys/ }).textContent()).to.match(/in 1 database$/);
  });

  it('has ticks at powers of two on an axis of bytes', async () => {
    const person = await browser.person();
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
    const { page } = await browser.personAt('/console/', KEY, { width: 1280, scheme: 'light', locale: 'de-DE' });
    const chart = page.locator('figure.chart').first();
    await chart.locator('canvas').waitFor();
    expect(await chart.locator('figcaption span').textContent()).to.match(/^\d{1,2}\. \S+ \d{4}, \d{1,2}:\d{2}:\d{2}$/);
  });

  it('counts the keys of databases', async () => {
    const { page } = await browser.personAt('/console/');
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
    const { page } = await browser.personAt('/console/');
    await page.getByRole('link', { name: `${name} is suspended` }).click();
    await eventually(() => expect(page.url()).to.include(`/console/databases/${id}`));
  });

  it('shows another period, which is in the address', async () => {
    const { page } = await browser.personAt('/console/');
    await page.getByRole('button', { name: 'Week' }).click();
    await eventually(() => expect(page.url()).to.match(/period=7d/));
    expect(await page.getByRole('button', { name: 'Week' }).getAttribute('aria-pressed')).to.equal('true');
  });

  it('shows the values under the crosshair', async () => {
    const { page } = await browser.personAt('/console/');
    const chart = page.locator('figure.chart').first();
    await chart.locator('canvas').waitFor();
    const shown = () => chart.locator('figcaption span').textContent();
    const newest = await shown();
    await eventually(async () => {
      await hoverEarly(chart);
      expect(await shown()).not.to.equal(newest);
    });
  });

  it('shows the same step in all charts, and a tooltip at the pointer', async () => {
    const { page } = await browser.personAt('/console/');
    const charts = page.locator('figure.chart');
    await charts.nth(5).locator('canvas').waitFor();
    await eventually(async () => {
      await hoverEarly(charts.first());
      const told = await charts.first().locator('.tooltip').allTextContents();
      for (const text of ['read', 'write', 'together', 'period before']) expect(told.join()).to.include(text);
      expect(await page.locator('.tooltip').count()).to.equal(1);
      const moments = await charts.locator('figcaption span').allTextContents();
      expect(new Set(moments.slice(0, 4)).size, moments.join()).to.equal(1);
    });
  });

  it('keeps the tooltip in a chart whose newer values are drawn', async () => {
    const { page, open } = await drawingsCounted();
    await open();
    const chart = page.locator('figure.chart').first();
    await chart.locator('canvas').waitFor();
    const drawn = () => page.evaluate<number>('globalThis.drawings');
    // A part of the page that arrives late moves the chart away from the pointer: then the next values decide.
    await eventually(
      async () => {
        await eventually(async () => {
          await hoverEarly(chart);
          expect(await chart.locator('.tooltip').count()).to.equal(1);
        });
        const before = await drawn();
        await page.waitForResponse((response) => response.url().includes('/v2/kv/stats'));
        await eventually(async () => expect(await drawn()).to.be.greaterThan(before));
        const isUnderPointer = await chart.locator('.u-over').evaluate((plot) => plot.matches(':hover'));
        expect(isUnderPointer, 'the chart is under the pointer').to.equal(true);
      },
      { timeoutMs: 120_000 },
    );
    expect(await chart.locator('.tooltip').count()).to.equal(1);
  });

  it('zooms all charts by a drag, and back by a button', async () => {
    const { page } = await browser.personAt('/console/');
    const plot = page.locator('figure.chart').nth(1).locator('.u-over');
    await plot.scrollIntoViewIfNeeded();
    const whole = page.getByRole('button', { name: 'Whole period' });
    await eventually(async () => {
      const { x = 0, y = 0, width = 0 } = (await plot.boundingBox()) ?? {};
      await page.mouse.move(x + width / 4, y + 30);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + 30, { steps: 5 });
      await page.mouse.up();
      await whole.first().waitFor({ timeout: 5_000 });
    });
    await eventually(async () => expect(await whole.count()).to.equal(await page.locator('figure.chart').count()));
    await whole.first().click();
    await eventually(async () => expect(await whole.count()).to.equal(0));
  });

  it('lists the messages of a step of the chart after a click', async () => {
    const { page } = await browser.personAt('/console/');
    const chart = page.locator('figure.chart').filter({ has: page.getByRole('heading', { name: 'Messages' }) });
    const plot = chart.locator('.u-over');
    await plot.scrollIntoViewIfNeeded();
    await plot.click({ position: { x: 100, y: 60 } });
    await page.getByRole('button', { name: /^Remove the filter From/ }).waitFor();
    await page.getByText('No message meets these filters').waitFor();
    expect(page.url()).to.match(/fromDate=[^&]+&toDate=/);
  });

  it('has the largest databases with their sizes', async () => {
    const { page } = await browser.personAt('/console/');
    const list = page.getByRole('region', { name: 'Largest databases' });
    await eventually(async () => {
      await page.reload();
      await list.getByRole('link', { name: 'default' }).waitFor();
    });
    expect(await list.textContent()).to.match(/default\d+ B/);
  });

  it('finds a database by its name, and a key in it', async () => {
    const { page } = await browser.personAt('/console/');
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
    const { page } = await browser.personAt('/console/');
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
    const person = (await browser.personAt('/console/')).allowProblem(/^404 .*msg_none/);
    await person.page.keyboard.press('Control+k');
    await person.page.getByRole('combobox', { name: 'Search' }).fill('msg_none');
    await person.page.keyboard.press('Enter');
    await eventually(() => expect(person.page.url()).to.match(/\/console\/messages\/msg_none$/));
  });

  /** Moves the pointer to the first quarter of a chart's time, from another place: a pointer at rest has no events. */
  async function hoverEarly(chart: Locator): Promise<void> {
    const plot = chart.locator('.u-over');
    const { width = 0 } = (await plot.boundingBox()) ?? {};
    for (const y of [30, 20]) await plot.hover({ position: { x: width / 4, y } });
  }

  /** A page that counts how often a canvas is cleared, which a chart does before it is drawn. */
  async function drawingsCounted() {
    const person = await browser.person();
    await person.page.addInitScript(`
      const clear = CanvasRenderingContext2D.prototype.clearRect;
      globalThis.drawings = 0;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        globalThis.drawings += 1;
        return clear.apply(this, box);
      };
    `);
    return { page: person.page, open: () => person.open('/console/') };
  }
});

describe('console: the overview of a queue with failures', function () {
  this.timeout(180_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    await stand.fail(3, 'broken');
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  it('lists failing destinations, with their messages', async () => {
    const { page } = await stand.personAt('/console/');
    const list = page.getByRole('region', { name: 'Failing destinations' });
    await list.getByText('3 failed attempts').waitFor();
    await list.getByRole('link').click();
    await page.getByRole('button', { name: /^Remove the filter URL/ }).waitFor();
  });

  it('says how many things need the user, and hides one for a day', async () => {
    const { page } = await stand.personAt('/console/');
    const health = page.getByRole('region', { name: 'Health' });
    const failed = health.getByRole('listitem').filter({ hasText: '3 messages could not be delivered' });
    await failed.waitFor();
    await health.getByRole('heading', { name: /thing needs you|things need you/ }).waitFor();
    await failed.getByRole('button', { name: 'Mute' }).click();
    await failed.waitFor({ state: 'detached' });
    await page.reload();
    await health.getByText(/muted thing/).waitFor();
    expect(await failed.count()).to.equal(0);
    await health.getByRole('button', { name: 'Show again' }).click();
    await failed.waitFor();
  });

  it('retries all dead letters after a question', async () => {
    const { page } = await stand.personAt('/console/');
    stand.stopFailing();
    await page.getByRole('region', { name: 'Health' }).getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('button', { name: 'Retry all of them' }).click();
    await page.getByText('3 of 3 sent again; that was all').waitFor();
  });
});
