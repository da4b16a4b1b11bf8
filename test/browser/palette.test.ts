/** The palette (Ctrl-K): results of every kind, actions, results opened last, and the keyboard shortcuts. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

describe('console: the palette', function () {
  this.timeout(180_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    await stand.call('POST', '/v2/queues', { queueName: 'letters', parallelism: 1 });
    await stand.client.schedules.create({
      scheduleId: 'nightly-report',
      destination: stand.sink.url('/nightly'),
      cron: '0 3 * * *',
    });
    await stand.client.publish({ url: stand.sink.url('/orders'), label: 'order-205', delay: 3600 });
    await stand.kv('SET', 'greeting:fr', 'bonjour');
    await stand.kv('SET', 'greeting:[de]', 'hallo');
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  async function find(page: Page, text: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).fill(text);
  }

  async function run(page: Page, text: string, name: string): Promise<void> {
    await find(page, text);
    await page.getByRole('option', { name, exact: true }).click();
  }

  it('finds keys by the beginning of their name, taken literally', async () => {
    const { page } = await stand.personAt('/console/');
    await find(page, 'greeting:');
    await page.getByRole('option', { name: 'Key greeting:fr in default' }).waitFor();
    await page.getByRole('combobox', { name: 'Search' }).fill('greeting:[de');
    const key = page.getByRole('option', { name: 'Key greeting:[de] in default' });
    await eventually(async () => expect(await page.getByRole('option', { name: /^Key / }).count()).to.equal(1));
    await key.click();
    await eventually(() => expect(new URL(page.url()).searchParams.get('key')).to.equal('greeting:[de]'));
  });

  it('finds a schedule by its destination, and the messages with a label', async () => {
    const { page } = await stand.personAt('/console/');
    await find(page, 'nightly');
    await page.getByRole('option', { name: `${stand.sink.url('/nightly')} schedule nightly-report` }).waitFor();
    await page.getByRole('combobox', { name: 'Search' }).fill('order-205');
    await page.getByRole('option', { name: 'Label order-205 messages' }).click();
    await eventually(() => expect(page.url()).to.match(/tab=messages&.*label=order-205/));
  });

  it('pauses and resumes a queue, changes the theme, and begins a schedule', async () => {
    const { page } = await stand.personAt('/console/');
    await run(page, 'pause let', 'Pause queue letters action');
    await page.getByText('letters is paused.').waitFor();
    await run(page, 'resume let', 'Resume queue letters action');
    await page.getByText('letters is resumed.').waitFor();
    await run(page, 'dark', 'Use the dark theme action');
    expect(await page.evaluate('document.documentElement.dataset.theme')).to.equal('dark');
    await run(page, 'new sch', 'New schedule action');
    await eventually(() => expect(page.url()).to.match(/tab=schedules&edit=-/));
  });

  it('retries all dead letters of a queue after a confirmation that names their number', async () => {
    const { page } = await stand.personAt('/console/');
    await run(page, 'retry letters', 'Retry all dead letters of queue letters action');
    await page.getByRole('dialog', { name: 'Retry 0 dead letters?' }).waitFor();
  });

  it('offers no action that changes something to a read-only key', async () => {
    const { page } = await stand.personAt('/console/', await stand.readOnlyKey('looks'));
    await find(page, 'pause');
    await page.getByRole('option', { name: /^Search the documentation/ }).waitFor();
    expect(await page.getByRole('option', { name: /Pause queue/ }).count()).to.equal(0);
  });

  it('opens the keyboard shortcuts when ? is pressed before the browser has reported the close of the palette', async () => {
    const { page } = await stand.personAt('/console/');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Find' }).waitFor();
    await page.evaluate(`
      document.querySelector('dialog').close();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
    `);
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    // The event of the palette's close arrives before the end of this frame.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).isVisible()).to.equal(true);
  });

  it('shows the results opened last while there is no text', async () => {
    const { page } = await stand.personAt('/console/');
    await run(page, 'audit', 'Audit log time machine');
    await eventually(() => expect(page.url()).to.match(/tab=audit$/));
    await page.keyboard.press('Control+k');
    await eventually(async () =>
      expect(await page.getByRole('option').first().textContent()).to.equal('Audit logtime machine'),
    );
  });

  for (const view of VIEWS) {
    it(`fits and is accessible with the keyboard shortcuts (?) at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.personAt('/console/', undefined, view);
      const { page } = person;
      await find(page, 'e');
      await page.getByRole('option').nth(3).waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }
});
