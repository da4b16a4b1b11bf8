/** The settings of messages in the console: queues, URL groups, schedules, flow-control keys, signing keys. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

/** Timetables tick at most once a minute. */
const MINUTE_MS = 60_000;
const PARTS = [
  'queues',
  'groups',
  'schedules',
  'schedules&edit=-',
  'schedules&ticks=shown',
  'triggers',
  'triggers&edit=-',
  'applications',
  'flow',
  'destinations',
  'keys',
];

describe('console: queues, groups, schedules and keys', function () {
  this.timeout(180_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    await stand.call('POST', '/v2/queues', { queueName: 'shown', parallelism: 2 });
    const endpoints = [{ name: 'one', url: stand.sink.url('/one') }];
    await stand.call('POST', '/v2/topics/shown/endpoints', { endpoints });
    await stand.client.schedules.create({
      scheduleId: 'shown',
      destination: stand.sink.url('/ticked'),
      cron: '0 8 * * 1',
      body: 'tick',
    });
    // The schedule ticks while the other tests run.
    const minutely = { scheduleId: 'minutely', destination: stand.sink.url('/minutely'), cron: '* * * * *' };
    await stand.client.schedules.create(minutely);
    await stand.call('POST', '/v2/flowControl/shown/pin?parallelism=3');
    await stand.call('POST', '/v2/triggers', {
      name: 'shown',
      patterns: ['shown:*'],
      events: ['set', 'del'],
      destination: stand.sink.url('/changed'),
    });
    await stand.call('POST', '/v2/apps', { name: 'shown', uid: 'customer-17' });
    await stand.call('POST', '/v2/destinations/rules', {});
    await stand.call('POST', '/v2/destinations/disable', { url: stand.sink.url('/shown') });
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  const part = (page: Page, tab: string) => page.goto(`${stand.url}/console/queue?tab=${tab}`);
  const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });
  const press = (page: Page, text: string, name: string) =>
    row(page, text).getByRole('button', { name, exact: true }).click();
  const choose = async (page: Page, name: string, action: string) => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.locator('.row-menu:popover-open').getByText(action, { exact: true }).click();
  };
  const confirm = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

  it('makes an application, and a link to its portal', async () => {
    const { page } = await stand.person();
    await part(page, 'applications');
    await page.getByRole('button', { name: 'New application' }).click();
    const form = page.getByRole('dialog', { name: 'New application' });
    await form.getByLabel('Name').fill('Customer Ltd');
    await form.getByRole('button', { name: 'Make' }).click();
    await page.getByRole('button', { name: 'Customer Ltd' }).click();
    await page.getByRole('button', { name: 'Make a link to the portal' }).click();
    const link = await page.getByRole('link', { name: '/portal/app_' }).getAttribute('href');
    expect(link).to.match(/^http:\/\/[^/]+\/portal\/app_[a-z2-7]+#mpt_/);
    expect(new URL(link ?? '').port).to.equal(new URL(stand.queueUrl).port);
  });

  it('creates a trigger, shows its records, pauses, skips and deletes it', async () => {
    const { page } = await stand.person();
    await part(page, 'triggers');
    await page.getByRole('link', { name: 'New trigger' }).click();
    const form = page.getByRole('dialog', { name: 'New trigger' });
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('orders');
    await form.getByLabel('Patterns of keys').fill('order:*');
    await form.getByLabel('Destination').fill(stand.sink.url('/orders'));
    await form.getByLabel('an entry is added to a stream').check();
    await form.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The trigger is made.').waitFor();
    await stand.kv('SET', 'order:1', 'lamp');
    await stand.kv('SET', 'other', 'x');
    await choose(page, 'orders', 'Newest records');
    const records = page.getByRole('dialog', { name: 'Records of orders' });
    await records.getByText('order:1', { exact: true }).waitFor();
    expect(await records.getByText('other').count()).to.equal(0);
    await records.getByRole('button', { name: 'Close' }).click();
    await choose(page, 'orders', 'Pause');
    await page.getByText('orders is paused.').waitFor();
    await choose(page, 'orders', 'Skip to now');
    await confirm(page, 'Skip');
    await page.getByText('orders continues with new changes.').waitFor();
    await choose(page, 'orders', 'Delete');
    await confirm(page, 'Delete');
    await page.getByText('orders is deleted.').waitFor();
    await eventually(async () => expect(await row(page, 'order:*').count()).to.equal(0));
  });

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.person(view);
      for (const tab of PARTS) {
        await part(person.page, tab);
        await person.page
          .locator('main')
          .getByText(tab === 'keys' ? 'Current key' : /shown|New schedule/)
          .first()
          .waitFor();
        expect(await person.inaccessible(), tab).to.deep.equal([]);
        expect(await person.isTooWide(), tab).to.equal(false);
      }
    });
  }

  it('creates, pauses, resumes, changes and deletes a queue, and shows the age of its backlog', async () => {
    const { page } = await stand.person();
    await part(page, 'queues');
    await page.getByRole('button', { name: 'New queue' }).click();
    await page.getByLabel('Name').fill('letters');
    await page.getByRole('button', { name: 'Save' }).click();
    await choose(page, 'letters', 'Pause');
    await row(page, 'letters').getByText('paused').waitFor();
    await stand.client.queue({ queueName: 'letters' }).enqueue({ url: stand.sink.url('/letter'), body: 'x' });
    await page.reload();
    await row(page, 'letters').locator('td', { hasText: /^1$/ }).first().waitFor();
    await row(page, 'letters')
      .locator('td', { hasText: /ago$|^now$/ })
      .first()
      .waitFor();
    // The age of the backlog in the last hour, as a line.
    await row(page, 'letters').locator('svg.sparkline').waitFor();
    await choose(page, 'letters', 'Edit');
    await page.getByLabel('Parallelism').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'letters').getByText('7').waitFor();
    await row(page, 'letters').getByText('paused').waitFor();
    await choose(page, 'letters', 'Resume');
    await stand.sink.arrived('/letter');
    await choose(page, 'letters', 'Delete');
    await confirm(page, 'Delete');
    await row(page, 'letters').waitFor({ state: 'detached' });
  });

  it('creates a URL group, adds and removes an endpoint, and publishes to it', async () => {
    const { page } = await stand.person();
    await part(page, 'groups');
    await page.getByRole('button', { name: 'New URL group' }).click();
    await page.getByRole('textbox', { name: /^Group/ }).fill('orders');
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url('/billing'));
    await page.getByRole('button', { name: 'Save' }).click();
    const group = page.getByRole('region', { name: 'URL group orders' });
    await group.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url('/stock'));
    await page.getByLabel('Name of the endpoint').fill('stock');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, '/stock').waitFor();
    await part(page, 'publish');
    await page.getByLabel(/^To/).selectOption('a URL group');
    await page.getByRole('combobox', { name: 'Group', exact: true }).fill('orders');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await eventually(async () => expect(await page.locator('[aria-live=polite] a').count()).to.equal(2));
    await Promise.all([stand.sink.arrived('/billing'), stand.sink.arrived('/stock')]);
    await part(page, 'groups');
    await press(page, '/stock', 'Remove');
    await row(page, '/stock').waitFor({ state: 'detached' });
    await group.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete');
    await group.waitFor({ state: 'detached' });
  });

  it('creates a schedule with a preview of its next ticks, runs, pauses, changes and deletes it', async () => {
    const person = (await stand.person()).allowProblem(/^400 .*ticks/);
    const { page } = person;
    await part(page, 'schedules');
    await page.getByRole('link', { name: 'New schedule' }).click();
    await page.getByPlaceholder('nightly-report').fill('nightly');
    await page.getByPlaceholder('*/5 * * * *').fill('61 * * * *');
    await page.getByText(/minute "61": 61 is not from 0 to 59/).waitFor();
    await page.getByRole('button', { name: 'every five minutes' }).click();
    await eventually(async () => expect(await page.locator('.ticks li').count()).to.equal(5));
    const path = stand.sink.path('nightly');
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url(path));
    await page.getByRole('textbox', { name: 'Body' }).fill('"tick"');
    await page.getByRole('button', { name: 'Save' }).click();
    await choose(page, 'nightly', 'Run now');
    expect((await stand.sink.call(path)).body).to.equal('"tick"');
    await choose(page, 'nightly', 'Pause');
    await row(page, 'nightly').getByText('paused').waitFor();
    await choose(page, 'nightly', 'Resume');
    await row(page, 'nightly').getByText('paused').waitFor({ state: 'detached' });
    await choose(page, 'nightly', 'Edit');
    await page.getByRole('button', { name: 'every hour' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'nightly').getByText('Every hour').waitFor();
    await row(page, 'nightly').getByRole('link', { name: 'nightly' }).click();
    await eventually(async () => expect(await page.locator('dialog .ticks li').count()).to.equal(10));
    await page.getByRole('button', { name: 'Close' }).click();
    await choose(page, 'nightly', 'Delete');
    await confirm(page, 'Delete');
    await row(page, 'nightly').waitFor({ state: 'detached' });
  });

  it('shows the timetable of a schedule in words, and its next five ticks', async () => {
    const path = stand.sink.path('hourly');
    await stand.client.schedules.create({
      scheduleId: 'in-words',
      destination: stand.sink.url(path),
      cron: 'CRON_TZ=Europe/Berlin */15 9-17 * * 1-5',
      body: 'x',
    });
    await stand.client.schedules.create({ scheduleId: 'yearly', destination: stand.sink.url(path), cron: '@yearly' });
    await stand.client.schedules.create({ scheduleId: 'often', destination: stand.sink.url(path), cron: '@every 90m' });
    const { page } = await stand.person();
    await part(page, 'schedules');
    const words = row(page, 'in-words').locator('td', { hasText: 'Every 15 minutes' });
    expect(await words.textContent()).to.match(/between 09:00 and 17:.*Monday through Friday.*Europe\/Berlin/);
    await eventually(async () => expect(await row(page, 'in-words').locator('td time').count()).to.equal(5));
    await row(page, 'in-words').getByText('none yet').waitFor();
    expect(await row(page, 'yearly').textContent()).to.match(/At 00:00, on day 1 of the month, only in January.*UTC/);
    expect(await row(page, 'often').textContent()).to.include('Every 90m');
  });

  it('creates, pauses, resumes, resets and unpins a flow-control key', async () => {
    const { page } = await stand.person();
    await part(page, 'flow');
    await page.getByText(/of 500 attempts/).waitFor();
    await page.getByRole('button', { name: 'Set up a key' }).click();
    await page.getByLabel('Key', { exact: true }).fill('shop/<b>');
    await page.getByLabel('Parallelism').fill('2');
    await page.getByRole('button', { name: 'Pin', exact: true }).last().click();
    await row(page, 'shop/<b>').getByText('0 of 2').waitFor();
    await press(page, 'shop/<b>', 'Pause');
    await row(page, 'shop/<b>').getByText('paused').waitFor();
    const flowControl = { key: 'shop/<b>', parallelism: 9 };
    await stand.client.publish({ url: stand.sink.url('/held'), body: 'x', flowControl });
    await page.reload();
    await row(page, 'shop/<b>').locator('td', { hasText: /^1$/ }).waitFor();
    await press(page, 'shop/<b>', 'Resume');
    await stand.sink.arrived('/held');
    await press(page, 'shop/<b>', 'New window');
    await page.getByText('A new window has begun.').waitFor();
    await press(page, 'shop/<b>', 'Reset');
    await confirm(page, 'Reset');
    await press(page, 'shop/<b>', 'Unpin');
    await row(page, 'shop/<b>').getByText('pinned').waitFor({ state: 'detached' });
    await page.getByLabel('Key contains').fill('SHOW');
    await page.getByLabel('Key contains').press('Enter');
    await row(page, 'shop/<b>').waitFor({ state: 'detached' });
    await row(page, 'shown').waitFor();
  });

  it('shows signing keys on request, and rotates them after a typed word', async () => {
    const { page } = await stand.person();
    await part(page, 'keys');
    const shown = async (at: number) => {
      await page.getByRole('button', { name: 'Show' }).first().waitFor();
      await page.getByRole('button', { name: 'Show' }).nth(at).click();
      return page.locator('section code').nth(at).textContent();
    };
    const next = await shown(1);
    expect(next).to.match(/^sig_[\w-]+$/);
    await page.getByRole('button', { name: 'Rotate' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Rotate' }).isDisabled()).to.equal(true);
    await dialog.getByRole('textbox').fill('rotate');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByText(/^The keys are rotated: /).waitFor();
    await page.reload();
    expect(await shown(0)).to.equal(next);
  });

  it('shows the last results of a schedule as coloured links to their messages', async () => {
    const { page } = await stand.person();
    await eventually(
      async () => {
        await part(page, 'schedules');
        await row(page, 'minutely').locator('a.result-cell.good').first().waitFor({ timeout: 3_000 });
      },
      { timeoutMs: MINUTE_MS + 15_000, everyMs: 1_000 },
    );
    const cell = row(page, 'minutely').locator('a.result-cell.good').last();
    expect(await cell.textContent()).to.match(/^delivered.*(ago|now)$/);
    expect(await row(page, 'minutely').textContent()).to.match(/\d delivered/);
    await cell.click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(page.url()).to.include('/console/messages/');
  }).timeout(2 * MINUTE_MS);

  it('shows no buttons for changes to a read-only key', async () => {
    const { page } = await stand.person(undefined, await stand.readOnlyKey('looks'));
    for (const tab of ['queues', 'groups', 'schedules', 'flow']) {
      await part(page, tab);
      await page.locator('main').getByText('shown').first().waitFor();
      expect(await page.locator('main button, main .button').allTextContents(), tab).to.deep.equal(
        tab === 'groups' ? ['Messages'] : [],
      );
    }
  });
});
