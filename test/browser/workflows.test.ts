/** Runs of workflows: starting, following, notifying and resuming them, and their contents shown as text. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { FLOW_ENVIRONMENT, FlowsStand, HOSTILE } from '../support/browser/flows-stand.js';
import { eventually } from '../support/eventually.js';
import { QUEUE_TOKEN } from '../support/queue-process.js';

const step = (page: Page, name: string | RegExp) => page.locator('.flow-row').filter({ hasText: name });
const box = (page: Page, name: string | RegExp) => page.locator('.flow-step').filter({ hasText: name });
const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name });
const badge = (page: Page) => page.locator('.page-head .badge');

describe('console: workflows', function () {
  this.timeout(180_000);
  const browser = new ConsoleBrowser();
  let flows: FlowsStand;

  before(async () => {
    await browser.start(FLOW_ENVIRONMENT);
    flows = await FlowsStand.start(browser.process.addresses.queue as string);
  });
  afterEach(() => browser.closePages());
  after(async () => {
    await flows.end();
    await browser.end();
  });

  it('starts a run by the form, follows it without a reload, and sends its event', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows`);
    await page.getByRole('link', { name: 'Start a run' }).first().click();
    await page.getByLabel('URL of the workflow').fill(flows.urls.order);
    await page.getByLabel('Payload').fill('{"id":7}');
    await page.getByLabel('Run id').fill('wfr_typed');
    await page.getByLabel('Labels').fill('typed,shop');
    await page.getByLabel('Headers').fill('X-Trace: abc');
    await page.getByLabel('Retries').fill('1');
    const shell = page.getByRole('region', { name: 'The same in a shell' });
    expect(await shell.textContent()).to.match(
      /Svc-Workflow-RunId: wfr_typed.*Svc-Forward-X-Trace: abc.*Svc-Retries: 1/s,
    );
    await page.getByRole('button', { name: 'Start the run' }).click();
    await step(page, 'payment').waitFor();
    expect(await page.locator('.flow-rows .parallel').count()).to.equal(2);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('/orders/order · typed');
    expect(await badge(page).textContent()).to.equal('started');
    await page.getByRole('button', { name: 'Notify paid-wfr_typed' }).click();
    await page.getByLabel('Data of the event').fill('{"euros":14}');
    await page.getByRole('dialog').getByRole('button', { name: 'Notify' }).click();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    expect(await page.getByRole('region', { name: 'About the run' }).textContent()).to.include('"euros": 14');
  });

  it('counts dead letters and failed runs once each, and links to lists of as many', async () => {
    const queue = browser.process.addresses.queue as string;
    const headers = { authorization: `Bearer ${QUEUE_TOKEN}`, 'Svc-Retries': '0' };
    for (const path of ['one', 'two']) {
      await fetch(`${queue}/v2/publish/http://127.0.0.1:9/${path}`, { method: 'POST', headers, body: path });
    }
    for (const id of ['wfr_counted-1', 'wfr_counted-2', 'wfr_counted-3']) await flows.trigger('broken', id);
    const { page } = await browser.personAt('/console/');
    const main = page.locator('#main');
    await eventually(async () => {
      await page.reload();
      await main.getByRole('link', { name: '3 runs failed' }).waitFor({ timeout: 2_000 });
      await main.getByRole('link', { name: '2 messages could not be delivered' }).waitFor({ timeout: 2_000 });
    });
    expect(await main.getByRole('link', { name: /^Dead letters/ }).textContent()).to.match(/^Dead letters2/);
    expect(await main.getByRole('link', { name: /^Failed runs/ }).textContent()).to.match(/^Failed runs3/);
    expect(await main.getByRole('list', { name: 'Needs attention' }).getByRole('link').count()).to.equal(2);
    await main.getByRole('link', { name: '2 messages could not be delivered' }).click();
    await page.getByRole('button', { name: 'All 2' }).waitFor();
    expect(await page.locator('tbody tr').count()).to.equal(2);
    await main.getByRole('link', { name: '3 failed runs' }).click();
    await page.getByRole('link', { name: /^Failed runs\s*3$/ }).waitFor();
    expect(await page.locator('tbody tr').count()).to.equal(3);
    await page.goBack();
    await page.goBack();
    await main.getByRole('link', { name: '3 runs failed' }).click();
    await page.getByRole('link', { name: /^Failed runs\s*3$/ }).waitFor();
  });

  it('shows a step, the graph of all steps, and all events', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_typed`);
    await step(page, 'price').click();
    const details = page.getByRole('region', { name: 'The step' });
    await details.getByRole('heading', { name: 'price' }).waitFor();
    expect(await details.textContent()).to.match(/Input.*Payload of the run.*7.*Output.*14/s);
    expect(page.url()).to.include('step=1');
    await page.getByRole('button', { name: 'Close the step' }).click();
    await details.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Graph' }).click();
    await box(page, 'payment').waitFor();
    expect(await page.locator('.flow-layer.parallel .flow-step').count()).to.equal(2);
    await page.getByRole('link', { name: 'Events' }).click();
    await page.locator('.timeline li').filter({ hasText: 'waiter added' }).waitFor();
  });

  it('splits each step into queued, executing, back-off and idle time, with a tick for each attempt', async () => {
    const headers = { 'Svc-Workflow-RunId': 'wfr_flaky-1', 'Svc-Retries': '2', 'Svc-Retry-Delay': '1000' };
    await flows.start('flaky', headers, '{"orderId":205}');
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_flaky-1`);
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('/flaky · order 205');
    const charge = step(page, 'charge');
    for (const kind of ['executing.failed', 'backoff', 'executing.delivered']) {
      expect(await charge.locator(`.flow-span.${kind}`).count(), kind).to.equal(1);
    }
    expect(await charge.locator('.flow-tick').count()).to.equal(2);
    expect(await charge.textContent()).to.match(/2 attempts.*back-off 1/s);
    expect(await step(page, 'cool down').locator('.flow-span.idle').count()).to.equal(1);
    expect(await page.locator('.flow-marks b').allTextContents()).to.include.members(['0', '1 s']);
    await charge.hover();
    await page.locator('.flow-card').getByText('2 (1 failure)').waitFor();
    await charge.click();
    const details = page.getByRole('region', { name: 'The step' });
    await details.getByText('Attempts (2)').waitFor();
    expect(await details.textContent()).to.match(/Result of price.*205.*"charged": 205.*the card is declined/s);
  });

  it('shows the timeout and the next attempt of a step whose endpoint never answers, also in the list', async () => {
    await flows.start('stuck', {
      'Svc-Workflow-RunId': 'wfr_stuck-1',
      'Svc-Timeout': '1s',
      'Svc-Retry-Delay': '90000',
    });
    await flows.start('stuck', { 'Svc-Workflow-RunId': 'wfr_stuck-2' });
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows`);
    const failing = row(page, 'wfr_stuck-1');
    await failing.getByText(/step after reserve/).waitFor();
    await failing.getByText(/Attempt 2 of 4 in 1 min.*, with a timeout of 1 s/).waitFor();
    await failing.getByText('no answer').waitFor();
    await row(page, 'wfr_stuck-2').getByText('Attempt 1 of 4 runs, with a timeout of 15 min').waitFor();
    await failing.getByRole('link', { name: '/stuck' }).click();
    const details = page.getByRole('region', { name: 'The step' });
    await details.getByText(/Attempt 2 of 4 in 1 min/).waitFor();
    expect(await step(page, 'next step').locator('.flow-span.backoff').count()).to.equal(1);
    await flows.client.cancel({ ids: ['wfr_stuck-1', 'wfr_stuck-2'] });
  });

  it('links to an invoked run, and back', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_typed`);
    await step(page, 'ship').click();
    await page.getByRole('region', { name: 'The step' }).getByRole('link', { name: /^wfr_/ }).click();
    await step(page, 'pack').waitFor();
    await page.getByRole('link', { name: 'wfr_typed' }).click();
    await step(page, 'payment').waitFor();
  });

  it('lists runs by state and filters, which are in the address', async () => {
    await flows.trigger('quick', 'listed-1', { label: 'listed' });
    await flows.trigger('quick', 'listed-2', { label: 'listed', delay: '1h' });
    const person = await browser.person();
    const { page } = person;
    await page.goto(`${browser.url}/console/workflows?label=listed`);
    await page.getByRole('button', { name: 'All 2' }).waitFor();
    await page.getByRole('button', { name: 'Succeeded 1' }).click();
    await row(page, 'wfr_listed-1').waitFor();
    await eventually(async () => expect(await row(page, 'wfr_listed-2').count()).to.equal(0));
    const other = await browser.person();
    await other.page.goto(page.url());
    await row(other.page, 'wfr_listed-1').waitFor();
    expect(await row(other.page, 'wfr_listed-2').count()).to.equal(0);
  });

  it('shows new runs without a reload', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows?label=appears`);
    await page.getByText('No run is like that').waitFor();
    await flows.trigger('quick', 'appears', { label: 'appears' });
    await row(page, 'wfr_appears').waitFor();
  });

  it('lists waiting runs, and sends one its event', async () => {
    await flows.trigger('order', 'waits');
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows?tab=waiting`);
    const waiting = row(page, 'paid-wfr_waits');
    await waiting.getByRole('button', { name: 'Notify' }).click();
    await page.getByLabel('Waiting runs').selectOption('all');
    await page.getByRole('dialog').getByRole('button', { name: 'Notify' }).click();
    await page.getByText('One run resumes').waitFor();
    await eventually(async () => expect(await waiting.count()).to.equal(0));
  });

  it('runs a run again from a step, with a given result', async () => {
    await flows.trigger('order', 'again');
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_again`);
    await page.getByRole('button', { name: 'Notify paid-wfr_again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Notify' }).click();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    await step(page, 'payment').click();
    await page.getByRole('button', { name: 'Run again from here' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('This step').selectOption('give');
    await dialog.getByLabel('Result (JSON)').fill('{"euros":');
    await dialog.getByText('The result is not valid JSON').waitFor();
    await dialog.getByLabel('Result (JSON)').fill('{"euros":77}');
    await dialog.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('The new run has started').waitFor();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    expect(page.url()).not.to.contain('wfr_again');
    expect(await page.getByRole('region', { name: 'About the run' }).textContent()).to.include('"euros": 77');
  });

  it('checks a new version, and shows the step of a run that it would break', async () => {
    await flows.trigger('order', 'checked');
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows?tab=check`);
    await page.getByLabel('Runs of the workflow').fill(flows.urls.order);
    await page.getByLabel('URL of the new version').fill(flows.urls.order);
    await page.getByRole('button', { name: 'Check the runs' }).click();
    await page.getByText('The new version would continue each run').waitFor();
    await page.getByLabel('URL of the new version').fill(flows.urls.quick);
    await page.getByRole('button', { name: 'Check the runs' }).click();
    const found = row(page, 'wfr_checked');
    await found.waitFor();
    expect(await found.textContent()).to.match(/breaks.*1 price.*Expected 'one'/);
  });

  it('cancels a run after a confirmation', async () => {
    await flows.trigger('quick', 'cancels', { delay: '1h' });
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_cancels`);
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('canceled'));
  });

  it('shows why a run failed, repeats its failure function, and resumes it', async () => {
    await flows.trigger('broken', 'broken-1');
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows?tab=failed`);
    await row(page, 'wfr_broken-1').getByText('the stock is closed').waitFor();
    await row(page, 'wfr_broken-1').getByRole('button', { name: 'Run its failure function again' }).click();
    await page.getByText('The failure function is called again').waitFor();
    await row(page, 'wfr_broken-1').getByRole('link', { name: 'wfr_broken-1' }).click();
    await page.getByRole('region', { name: 'Why it failed' }).getByText('Error: the stock is closed').waitFor();
    flows.isMended = true;
    await page.getByRole('button', { name: 'Resume' }).click();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    flows.isMended = false;
    expect(await page.locator('.flow-line').first().textContent()).not.to.include('wfr_broken-1');
  });

  it('restarts a run, and deletes several after showing their number', async () => {
    for (const id of ['many-1', 'many-2', 'many-3']) await flows.trigger('broken', id, { label: 'many' });
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows?tab=failed&label=many`);
    await eventually(async () => expect(await row(page, 'wfr_many-').count()).to.equal(3));
    flows.isMended = true;
    await row(page, 'wfr_many-1').getByRole('button', { name: 'Restart' }).click();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    flows.isMended = false;
    await page.goto(`${browser.url}/console/workflows?tab=failed&label=many`);
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('2 failed runs are deleted').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 of 2 deleted; that was all').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No failed run is like that').waitFor();
  });

  it('shows hostile contents of runs as text, and long bodies in part', async () => {
    await flows.trigger('hostile', 'hostile', { body: HOSTILE });
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/workflows/wfr_hostile?step=1`);
    await page.getByRole('region', { name: 'The step' }).getByRole('heading', { name: HOSTILE }).waitFor();
    await eventually(async () => expect(await badge(page).textContent()).to.equal('success'));
    expect(await page.getByRole('region', { name: 'About the run' }).textContent()).to.include('<img src=x');
    await step(page, 'large').click();
    await page.getByRole('button', { name: 'Load the whole' }).click();
    await page.getByText(/The first 100000 of \d+ characters/).waitFor();
    expect(await page.title()).to.equal('/hostile · Millrace');
    await page.goto(`${browser.url}/console/workflows/wfr_hostile?tab=events`);
    await page.locator('.timeline li').filter({ hasText: HOSTILE }).first().waitFor();
  });

  for (const view of [...VIEWS, { width: 1920, scheme: 'dark' } as const]) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      const { page } = person;
      const main = [
        ['', row(page, 'wfr_')],
        ['?tab=failed', page.getByText('the last one first')],
        ['/wfr_typed', step(page, 'payment')],
      ] as const;
      const others = [
        ['?tab=waiting', page.getByText('the earliest deadline first')],
        ['?tab=start', page.getByLabel('Payload')],
        ['/wfr_typed?tab=graph&step=1', box(page, 'payment')],
        ['/wfr_flaky-1?step=2', page.getByText('Attempts (2)')],
        ['/wfr_hostile?tab=events', page.locator('.timeline li')],
        ['/wfr_broken-1', page.getByRole('region', { name: 'Why it failed' })],
      ] as const;
      const isFirst = (view.width === 1280) === (view.scheme === 'light');
      for (const [path, shown] of isFirst ? [...main, ...others] : main) {
        await page.goto(`${browser.url}/console/workflows${path}`);
        await shown.first().waitFor();
        expect(await person.inaccessible(), path).to.deep.equal([]);
        expect(await person.isTooWide(), path).to.equal(false);
      }
    });
  }

  it('shows no buttons for changes to a read-only key, whose changes are refused', async () => {
    await flows.trigger('broken', 'stays');
    await flows.trigger('order', 'waits-still');
    const person = (await browser.person(undefined, await browser.readOnlyKey('looks at runs'))).allowProblem(/^403 /);
    const { page } = person;
    const changing = page
      .locator('#main')
      .getByRole('button', { name: /notify|resume|restart|delete|cancel|failure/i });
    const starting = page.locator('#main').getByRole('link', { name: /start/i });
    for (const [path, shown] of [
      ['?tab=failed', row(page, 'wfr_stays')],
      ['?tab=waiting', row(page, 'paid-wfr_waits-still')],
      ['/wfr_stays', page.getByRole('region', { name: 'Why it failed' })],
      ['/wfr_waits-still', step(page, 'payment')],
    ] as const) {
      await page.goto(`${browser.url}/console/workflows${path}`);
      await shown.waitFor();
      expect(await changing.count(), path).to.equal(0);
      expect(await starting.count(), path).to.equal(0);
    }
    const status = await page.evaluate(async () => {
      const { csrf } = (await (await fetch('/console/api/session')).json()) as { csrf: string };
      const [queue] = (await (await fetch('/v2/msgq/users')).json()) as [{ id: string }];
      const path = `/console/api/queue/${queue.id}/v2/workflows/runs/wfr_waits-still`;
      return (await fetch(path, { method: 'DELETE', headers: { 'Millrace-Csrf': csrf } })).status;
    });
    expect(status).to.equal(403);
  });
});
