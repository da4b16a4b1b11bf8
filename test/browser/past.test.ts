/** The time machine: earlier states of a database, changes, entries and verification; and the audit log. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror=alert(1)> \u202eevil';

describe('console: the past', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  /** Between the two states. */
  let betweenMs = 0;

  before(async () => {
    const { kv } = browser.process;
    await kv.command('SET', 'greeting', 'hello');
    await kv.command('HSET', 'user:1', 'name', 'Ada');
    await kv.command('SET', `long-${'x'.repeat(200)}`, 'long');
    await kv.command('SET', HOSTILE, HOSTILE);
    const storedMs = Date.now();
    await eventually(() => {
      // The API gives times in milliseconds, and the page shows seconds.
      betweenMs = Math.floor(Date.now() / 1000) * 1000;
      expect(betweenMs).to.be.greaterThan(storedMs);
    });
    await eventually(() => expect(Date.now()).to.be.greaterThan(betweenMs + 2_000));
    await kv.command('SET', 'greeting', 'goodbye');
    await kv.command('DEL', 'user:1');
    // A change that belongs to no key is listed, too.
    await kv.command('CONFIG', 'SET', 'notify-keyspace-events', 'KEA');
    await eventually(() => expect(Date.now()).to.be.greaterThan(betweenMs + 4_500));
  });

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      for (const tab of ['state', 'difference', 'entries', 'verify', 'audit']) {
        await person.open(`/console/past?tab=${tab}`);
        await person.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        await person.page.locator('#main h1').waitFor();
        expect(await person.inaccessible(), tab).to.deep.equal([]);
        expect(await person.isTooWide(), tab).to.equal(false);
      }
    });
  }

  it('shows the values of a database at an earlier moment', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=state&at=${betweenMs}`);
    await page.getByRole('button', { name: 'user:1' }).click();
    await page.getByRole('dialog').getByText('Ada').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'greeting' }).click();
    expect(await page.getByRole('dialog').textContent())
      .to.include('hello')
      .and.not.include('goodbye');
  });

  it('keeps an opened key in the address, with its moment', async () => {
    const person = await browser.person();
    const { page } = person;
    await page.goto(`${browser.url}/console/past?tab=state`);
    await page.getByRole('button', { name: 'greeting' }).click();
    await page.getByRole('dialog').getByText('goodbye').waitFor();
    const opened = page.url();
    expect(opened)
      .to.include('key=greeting')
      .and.match(/at=\d+/);
    await page.keyboard.press('Escape');
    await eventually(() => expect(page.url()).to.not.include('key='));
    await page.goto(opened);
    await page.getByRole('dialog').getByText('goodbye').waitFor();
    await page.goto(`${browser.url}/console/past?tab=difference&from=${betweenMs}&key=greeting`);
    await page.getByRole('dialog').getByText('Entries that changed it').waitFor();
  });

  it('breaks long names of keys at 390 px, and shows the audit log as a list', async () => {
    const person = await browser.person(VIEWS.find(({ width }) => width === 390));
    await person.open(`/console/past?tab=state&at=${betweenMs}`);
    const name = person.page.getByRole('button', { name: /^long-/ });
    await name.waitFor();
    const box = await name.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 999)).to.be.at.most(390);
    const isCut = (label: string) =>
      person.page.evaluate((of) => {
        const { document } = globalThis as unknown as { document: { querySelector(text: string): Scrolled } };
        interface Scrolled {
          readonly scrollWidth: number;
          readonly clientWidth: number;
        }
        const { scrollWidth, clientWidth } = document.querySelector(`section[aria-label="${of}"]`);
        return scrollWidth > clientWidth;
      }, label);
    expect(await isCut('Keys at that moment')).to.equal(false);
    await browser.manage('POST', '/apikey', { name: 'a line of the log', readonly: true });
    await person.open('/console/past?tab=audit');
    await person.page.locator('tbody tr').first().waitFor();
    expect(await isCut('Audit log')).to.equal(false);
    expect(await person.page.locator('thead').isVisible()).to.equal(false);
  });

  it('opens after the last change, with the changes over time below the slider', async () => {
    const { page } = await browser.person();
    const bars = page.getByRole('img', { name: 'Changes over time' });
    await eventually(async () => {
      await page.goto(`${browser.url}/console/past?tab=state`);
      await page.getByRole('button', { name: 'greeting' }).waitFor();
      expect(await bars.count()).to.equal(1);
      // The statistics are some seconds late.
      expect(await page.getByRole('button', { name: 'user:1' }).count()).to.equal(0);
    });
    const slider = page.getByRole('slider', { name: 'State' });
    expect(Number(await slider.inputValue())).to.be.within(betweenMs, Date.now());
  });

  it('moves to another moment with the slider and its buttons', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=state&at=${betweenMs}`);
    await page.getByRole('button', { name: 'user:1' }).waitFor();
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await page.getByRole('button', { name: 'user:1' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'greeting' }).waitFor();
    expect(page.url()).to.match(/at=\d+/);
  });

  it('shows the changes between two moments, with their entries', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=difference&from=${betweenMs}`);
    const row = page.getByRole('row', { name: /user:1/ });
    await row.getByText('deleted').waitFor();
    await page
      .getByRole('row', { name: /settings/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'greeting' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('hello').waitFor();
    expect(await dialog.textContent())
      .to.include('goodbye')
      .and.include('Entries that changed it');
  });

  it('shows the entries of one key', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=entries`);
    await page.getByLabel('Key').fill('user:1');
    await page.getByLabel('Key').press('Enter');
    await page.getByText('DEL user:1').waitFor();
    await eventually(async () => expect(await page.locator('tbody tr').count()).to.equal(2));
    expect(page.url()).to.include('key=user%3A1');
  });

  it('shows hostile names and values as text', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=state&at=${betweenMs}`);
    await page.getByRole('button', { name: /onerror/ }).click();
    await page.getByRole('dialog').getByText('onerror=alert(1)').first().waitFor();
    expect(await page.locator('img[src=x]').count()).to.equal(0);
  });

  it('verifies a database, and shows the progress', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=verify`);
    await page.getByRole('button', { name: 'Verify default' }).click();
    await page.getByText('No damage was found').waitFor();
    await page.getByRole('button', { name: 'Print' }).waitFor();
  });

  it('sets, shows and ends the export of the audit log, which a viewer sees without changing it', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=audit`);
    const card = page.getByRole('region', { name: 'Export of the audit log' });
    await card.getByText('No export').waitFor();
    const address = 'https://audit.invalid/lines';
    await card.getByLabel('Address of the export').fill(address);
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Accepted up to position').waitFor();
    await card.getByText('Last error: ').waitFor();

    const { json } = await browser.manage('POST', '/v2/apikey', { name: 'views the export', role: 'viewer' });
    const viewer = await browser.person(undefined, (json as { api_key: string }).api_key);
    await viewer.page.goto(`${browser.url}/console/past?tab=audit`);
    const seen = viewer.page.getByRole('region', { name: 'Export of the audit log' });
    await seen.getByText('Accepted up to position').waitFor();
    const field = seen.getByLabel('Address of the export');
    expect([await field.inputValue(), await field.isDisabled()]).to.deep.equal([address, true]);
    for (const button of await seen.getByRole('button').all()) expect(await button.isDisabled()).to.equal(true);

    await card.getByRole('button', { name: 'End the export' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the export' }).click();
    await card.getByText('No export').waitFor();
    expect((await browser.manage('GET', '/v2/auditlogs/export')).json).to.include({ url: '' });
  });

  it('lists changes in the audit log, filtered by actor and action', async () => {
    await browser.manage('POST', '/apikey', { name: 'seen in the log', readonly: true });
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/past?tab=audit`);
    await page.getByText('seen in the log').first().waitFor();
    await page.getByLabel('Who').fill('nobody@example.com');
    await page.getByLabel('Who').press('Enter');
    await page.getByText('No changes of that kind').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('seen in the log').first().waitFor();
  });
});
