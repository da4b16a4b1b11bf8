/** Alert rules in the console: their states, the form, silences, tests and the history. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { SMTPServer } from 'smtp-server';
import { VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

const TABS = ['rules', 'history'];
const HOSTILE = '<img src=x onerror="document.title=1"> שלום';

describe('console: alerts', function () {
  this.timeout(180_000);
  const stand = new QueueStand();
  const mails = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.resume();
      stream.on('end', () => done());
    },
  });

  before(async () => {
    await new Promise<void>((resolve) => mails.listen(0, '127.0.0.1', resolve));
    const address = mails.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await stand.start({
      MILLRACE_ALERT_LOOK_MS: '200',
      MILLRACE_SMTP_URL: `smtp://127.0.0.1:${port}`,
      MILLRACE_SMTP_FROM: 'millrace@example.com',
    });
    const channels = [
      { type: 'webhook', address: stand.sink.url('/pager') },
      { type: 'slack', address: stand.sink.url('/slack/of-the-people-who-are-called-when-something-does-not-work') },
      { type: 'email', address: 'anna@example.com' },
    ];
    await stand.manage('POST', '/v2/alerts', { name: 'Messages fail', kind: 'dead-letters', channels });
    const late = { name: HOSTILE, kind: 'schedule', target: 'nightly-report', channels: channels.slice(0, 1) };
    await stand.manage('POST', '/v2/alerts', late);
    await stand.manage('POST', '/v2/alerts/al-disk/silence', { seconds: 3600 });
    await stand.manage('PUT', '/v2/alerts/al-memory', {
      name: 'Memory',
      kind: 'memory',
      threshold: 80,
      enabled: false,
    });
    await stand.fail(2, 'alerts');
    await eventually(async () => {
      const history = (await stand.manage('GET', '/v2/alerts/history')).json as { notices: { state: string }[] }[];
      expect(history.flatMap(({ notices }) => notices.map(({ state }) => state))).to.deep.equal(Array(4).fill('sent'));
    });
  });
  afterEach(() => stand.closePages());
  after(async () => {
    await stand.end();
    await new Promise<void>((resolve) => mails.close(() => resolve()));
  });

  const open = async (page: Page, tab = 'rules') => {
    await page.goto(`${stand.url}/console/alerts?tab=${tab}`);
    await page.locator('tbody tr').first().waitFor();
  };
  const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });
  const choose = async (page: Page, name: string, action: string) => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click();
    await page.locator('.row-menu:popover-open').getByText(action, { exact: true }).click();
  };

  for (const view of VIEWS) {
    it(`fit and are accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.person(view);
      for (const tab of TABS) {
        await open(person.page, tab);
        expect(await person.inaccessible(), tab).to.deep.equal([]);
        expect(await person.isTooWide(), tab).to.equal(false);
      }
      await open(person.page);
      await choose(person.page, 'Messages fail', 'Edit');
      await person.page.getByRole('dialog').getByText('Fires when').waitFor();
      expect(await person.inaccessible(), 'the form').to.deep.equal([]);
      expect(await person.isTooWide(), 'the form').to.equal(false);
    });
  }

  it('show the alerts that fire, since when, and each state in its colour', async () => {
    const { page } = await stand.person();
    await open(page);
    await page.getByText('2 firing').waitFor();
    const strip = page.getByRole('region', { name: 'Firing now' });
    await strip.getByText('2 messages reached the DLQ within 60 minutes').waitFor();
    await strip.getByText('there is no schedule nightly-report').waitFor();
    for (const [rule, state, tone] of [
      ['Messages fail', 'firing', 'bad'],
      ['Disk', 'silenced', 'plain'],
      ['Memory', 'off', 'plain'],
      ['Certificate', 'ok', 'good'],
    ] as const) {
      await row(page, rule).locator(`.badge.${tone}`, { hasText: state }).waitFor();
    }
    expect(await page.title()).to.equal('Alerts · Millrace');
    await row(page, HOSTILE).waitFor();
  });

  it('a rule is created, changed, silenced, turned off and deleted', async () => {
    const { page } = await stand.person();
    await open(page);
    await page.getByRole('button', { name: 'New rule' }).click();
    await page.getByLabel('Watches').selectOption('A destination fails');
    await page.getByLabel('Name').fill('Payments fail');
    await page.getByLabel('Host').fill('pay.example');
    await page.getByLabel('Threshold').fill('7');
    await page.getByLabel('Within').selectOption('15 min');
    await page.getByRole('button', { name: 'Add a channel' }).click();
    await page.getByLabel('Address of channel 1').fill(stand.sink.url('/payments'));
    await page.getByText('7 attempts at pay.example failed within 15 min.').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Payments fail').getByText('7 attempts at pay.example failed within 15 min').waitFor();
    await choose(page, 'Payments fail', 'Edit');
    await page.getByLabel('Threshold').fill('9');
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Payments fail').getByText('9 attempts').waitFor();
    await choose(page, 'Payments fail', 'Silence for 8 hours');
    await row(page, 'Payments fail').getByText('silenced', { exact: true }).waitFor();
    await choose(page, 'Payments fail', 'End the silence');
    await row(page, 'Payments fail').getByText('ok', { exact: true }).waitFor();
    await choose(page, 'Payments fail', 'Turn off');
    await row(page, 'Payments fail').getByText('off', { exact: true }).waitFor();
    await choose(page, 'Payments fail', 'Delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await eventually(async () => expect(await row(page, 'Payments fail').count()).to.equal(0));
  });

  it('a refused rule stays in the form, with the reason', async () => {
    const person = (await stand.person()).allowProblem(/^400 /);
    const { page } = person;
    await open(page);
    await page.getByRole('button', { name: 'New rule' }).click();
    await page.getByLabel('Threshold').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('status').getByText('threshold: must be a whole number from 1 to 1000000').waitFor();
    await page.getByRole('dialog').getByText('New alert rule').waitFor();
  });

  it('a test shows the outcome of every channel, with the message that carries it', async () => {
    const { page } = await stand.person();
    await open(page);
    await choose(page, 'Messages fail', 'Send a test');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('delivered').first().waitFor();
    await dialog.getByText('accepted').waitFor();
    expect(await dialog.getByRole('link', { name: 'Message' }).count()).to.equal(2);
    await dialog.getByRole('link', { name: 'Message' }).first().click();
    await page.getByText('millrace-alert').first().waitFor();
  });

  it('the history shows each notice with its outcome', async () => {
    const { page } = await stand.person();
    await open(page, 'history');
    const alert = row(page, 'messages reached the DLQ');
    expect(await alert.getByText('sent', { exact: true }).count()).to.equal(3);
    await alert.getByRole('link').first().click();
    await page.waitForURL(/\/console\/messages\/msg_/);
  });

  it('the overview links to the rules and lists the alerts that fire', async () => {
    const { page } = await stand.personAt('/console/');
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('there is no schedule nightly-report').waitFor();
    await health.getByRole('link', { name: 'Alert rules' }).click();
    await page.waitForURL(/\/console\/alerts/);
  });

  it('a read-only key sees rules without actions, and no address of a webhook', async () => {
    const { page } = await stand.person(undefined, await stand.readOnlyKey('looks at alerts'));
    await open(page);
    expect(await page.getByRole('button', { name: 'New rule' }).count()).to.equal(0);
    expect(await page.getByRole('button', { name: /^Actions of/ }).count()).to.equal(0);
    expect(await page.content()).not.to.include('/pager');
  });
});
