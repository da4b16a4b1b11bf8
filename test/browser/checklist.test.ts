/** The checklist of first steps on the overview of a new installation. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { QUEUE_TOKEN } from '../support/queue-process.js';

const LANGUAGES = ['JavaScript', 'Python', 'Go', 'curl', 'Command line'];
/** Statistics and the overview are a few seconds behind. */
const LATER = { timeout: 40_000 };

describe('console: the checklist of first steps', function () {
  this.timeout(180_000);
  const browser = new ConsoleBrowser();
  before(() => browser.start({ MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN }));
  afterEach(() => browser.closePages());
  after(() => browser.end());

  const queue = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${browser.process.addresses.queue}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, ...headers },
      body: '{}',
    });

  for (const view of VIEWS) {
    it(`opens the first step, fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.personAt('/console/', undefined, view);
      const { page } = person;
      await page.getByText('0 of 5 done').waitFor();
      await page.getByText('/ping').first().waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('shows each step in five languages, and keeps the chosen one', async () => {
    const { page } = await browser.personAt('/console/');
    const steps = page.getByRole('region', { name: 'First steps' });
    for (const title of ['Connect', 'Store a first key', 'Publish a first message', 'Start a first run']) {
      await steps.getByRole('button', { name: title }).click();
      expect(await steps.locator('fieldset button').allTextContents()).to.deep.equal(LANGUAGES);
    }
    await steps.getByRole('button', { name: 'Python' }).click();
    await steps.getByText('urlopen').first().waitFor();
    await steps.getByRole('button', { name: 'Set a first schedule' }).click();
    await steps.getByText("'Svc-Cron': '0 8 * * *'").waitFor();
    await page.getByText('0 of 5 done').waitFor();
  });

  it('checks a step off when the installation has done it, not when it is opened', async () => {
    const { page } = await browser.personAt('/console/');
    await browser.process.kv.command('SET', 'greeting', 'hello');
    await page.getByText('2 of 5 done').waitFor(LATER);
    await queue('/v2/publish/http://127.0.0.1:9/hook', { 'svc-retries': '0' });
    await page.getByText('3 of 5 done').waitFor(LATER);
    await queue('/v2/trigger/http://127.0.0.1:9/order', { 'svc-retries': '0' });
    await page.getByText('4 of 5 done').waitFor(LATER);
    await page.locator('.checklist .is-done').nth(3).waitFor();
  });

  it('stays away after it was dismissed', async () => {
    const person = await browser.personAt('/console/');
    const { page } = person;
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('region', { name: 'First steps' }).waitFor({ state: 'detached' });
    await person.open('/console/');
    await page.getByRole('heading', { name: 'Commands' }).waitFor();
    expect(await page.getByText('First steps').count()).to.equal(0);
  });

  it('is gone when all steps are done', async () => {
    const { page } = await browser.personAt('/console/');
    await page.getByText('4 of 5 done').waitFor();
    await queue('/v2/schedules/http://127.0.0.1:9/tick', { 'svc-cron': '0 8 * * *' });
    await page.getByRole('region', { name: 'First steps' }).waitFor({ state: 'detached', ...LATER });
  });
});
