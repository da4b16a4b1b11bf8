/** Teams and members, API keys, plans and usage. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, EMAIL, KEY, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror="document.title=1"> שלום';
const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name });

describe('console: team and keys', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();

  const at = (words = '') => `${browser.url}/console/team${words}`;

  it('creates a team, adds and removes a member, and deletes it after its name is typed', async () => {
    const { page } = await browser.person();
    await page.goto(at());
    await page.getByText('You are in no team').waitFor();
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByRole('button', { name: 'Create the team' }).click();
    await row(page, EMAIL).getByText('owner').waitFor();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByLabel('Role').selectOption('finance');
    await page.getByRole('button', { name: 'Add to the team' }).click();
    await row(page, 'ada@example.com').getByText('finance').waitFor();
    await row(page, 'ada@example.com').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await eventually(async () => expect(await row(page, 'ada@example.com').count()).to.equal(0));
    await page.getByRole('button', { name: 'Delete the team' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill(HOSTILE);
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('You are in no team').waitFor();
    expect(await page.title()).to.equal('Team and keys · Millrace');
  });

  it('creates a read-only key that is shown once and signs in, and deletes it', async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=keys'));
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('looks');
    await page.getByLabel('Read-only: it sees everything').check();
    await page.getByRole('button', { name: 'Make the key' }).click();
    const key = ((await page.getByRole('dialog').locator('pre').textContent()) ?? '').trim();
    expect(key).to.match(/^mrk_/);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await row(page, 'looks').getByText('only look').waitFor();
    expect(await page.content()).not.to.include(key);
    // Its session ends with the key.
    const other = (await browser.personAt('/console/', key)).allowProblem(/^401 /);
    expect(await other.page.getByText('read-only key').count()).to.equal(1);
    await row(page, 'looks').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('looks');
    await page.getByRole('button', { name: 'Delete it' }).click();
    await eventually(async () => expect(await row(page, 'looks').count()).to.equal(0));
    const late = (await browser.visitor()).allowProblem(/^401 /);
    await late.open('/console/');
    await late.page.getByLabel('E-mail').fill(EMAIL);
    await late.page.getByLabel('Management key').fill(key);
    await late.page.getByRole('button', { name: 'Sign in' }).click();
    await late.page.getByRole('alert').waitFor();
  });

  it("offers no deletion of the account's first key", async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=keys'));
    await row(page, 'default').getByText('this session').waitFor();
    expect(await row(page, 'default').getByRole('button', { name: 'Delete' }).count()).to.equal(0);
  });

  it('creates a key of a team, which signs in for the team', async () => {
    const team = (await browser.manage('POST', '/v2/team', { team_name: 'crew', copy_cc: false })).json;
    const { team_id: id } = team as { team_id: string };
    const { page } = await browser.person();
    await page.goto(at('?tab=keys'));
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('of the crew');
    await page.getByLabel('Account').selectOption('crew');
    await page.getByRole('button', { name: 'Make the key' }).click();
    const key = ((await page.getByRole('dialog').locator('pre').textContent()) ?? '').trim();
    const person = await browser.person(undefined, key);
    await person.page.goto(at('?tab=plans'));
    await person.page.getByText('owner of a team').first().waitFor();
    const keys = (await browser.manage('GET', '/v2/apikeys')).json as { name: string; customer_id: string }[];
    expect(keys.find(({ name }) => name === 'of the crew')?.customer_id).to.equal(id);
  });

  it('creates a key with a role for one database, and lists both', async () => {
    const id = await browser.firstDatabase();
    const { page } = await browser.person();
    await page.goto(at('?tab=keys'));
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('of one database');
    expect(await page.getByLabel('Only for').count()).to.equal(0);
    await page.getByLabel('Role').selectOption('developer');
    await page.getByLabel('Only for').fill(id);
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await row(page, 'of one database').getByText('developer').waitFor();
    await row(page, 'of one database').getByText(id).waitFor();
    await row(page, 'default').getByText('none').waitFor();
    const keys = (await browser.manage('GET', '/v2/apikeys')).json as { name: string }[];
    const key = keys.find(({ name }) => name === 'of one database');
    expect(key).to.include({ role: 'developer', resource_id: id });
  });

  it('makes a role, gives it to a person and takes it away', async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=roles'));
    await row(page, 'viewer').first().waitFor();
    await page.getByLabel('Name of the role').fill('support');
    await page.getByLabel('queues:read').check();
    await page.getByRole('button', { name: 'Make the role' }).click();
    await row(page, 'support').getByText('own').waitFor();
    await page.getByLabel('Who').fill('ada@example.com');
    await page.getByLabel('Given role').selectOption('support');
    await page.getByRole('button', { name: 'Give the role' }).click();
    await row(page, 'ada@example.com').getByText('the account').waitFor();
    await row(page, 'ada@example.com').getByRole('button', { name: 'Take away' }).click();
    await page.getByText('No role is given').waitFor();
  });

  it('shows a key with the role viewer no buttons for changes', async () => {
    const { json } = await browser.manage('POST', '/v2/apikey', { name: 'a viewer', role: 'viewer' });
    const { page } = await browser.person(undefined, (json as { api_key: string }).api_key);
    await page.goto(at('?tab=roles'));
    await row(page, 'viewer').first().waitFor();
    expect(await page.getByRole('button', { name: /role/ }).count()).to.equal(0);
    await page.goto(`${browser.url}/console/databases`);
    await row(page, 'default').waitFor();
    expect(await page.getByRole('button', { name: /New/ }).count()).to.equal(0);
    await page.goto(`${browser.url}/console/queue?tab=queues`);
    await page.getByText('URL groups', { exact: true }).waitFor();
    expect(await page.getByText('Publish', { exact: true }).count()).to.equal(0);
  });

  it("changes the queue's plan and budget", async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=plans'));
    const plan = page.getByRole('region', { name: 'Plan of the queue' });
    await plan.getByLabel('Plan').selectOption('msgq_fixed_1m');
    await plan.getByLabel('Budget a month').fill('50');
    await plan.getByRole('button', { name: 'Save' }).click();
    await plan.getByText('$50 a month').waitFor();
    await plan.locator('.badge').getByText('msgq_fixed_1m').waitFor();
  });

  it("sets a label of the queue's account", async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=plans'));
    const labels = page.getByRole('region', { name: 'Labels of the queue' });
    await labels.getByLabel('Label', { exact: true }).fill('team');
    await labels.getByLabel('Value').fill('shop');
    await labels.getByRole('button', { name: 'Set the label' }).click();
    await labels.getByRole('button', { name: 'team: shop' }).waitFor();
  });

  it('shows the error in a budget', async () => {
    const person = (await browser.person()).allowProblem(/^400 /);
    await person.page.goto(at('?tab=plans'));
    const plan = person.page.getByRole('region', { name: 'Plan of the queue' });
    await plan.getByLabel('Budget a month').fill('3');
    await plan.getByRole('button', { name: 'Save' }).click();
    await person.page.locator('.toast.bad').waitFor();
  });

  it('shows the usage of this month', async () => {
    await browser.process.kv.command('SET', 'greeting', 'hello');
    const { page } = await browser.person();
    const used = page.getByRole('region', { name: 'Databases' }).getByRole('row').filter({ hasText: 'default' });
    await eventually(async () => {
      await page.goto(at('?tab=usage'));
      await used.waitFor();
      expect(Number(await used.getByRole('cell').nth(1).textContent())).to.be.greaterThan(0);
    });
    await page.locator('canvas').waitFor();
  });

  it('shows the use of a month by object, and downloads it as CSV', async () => {
    const id = await browser.firstDatabase();
    const labels = [{ name: 'costCentre', value: '4711' }];
    await browser.manage('PATCH', `/v2/labels/database/${id}`, { labels });
    const { page } = await browser.person();
    await page.goto(at('?tab=usage'));
    const use = page.getByRole('region', { name: 'Use of a month', exact: true });
    await use.getByRole('row').filter({ hasText: 'default' }).getByText('costCentre: 4711').waitFor();
    const month = await use.getByLabel('Month').inputValue();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      use.getByRole('link', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal(`usage-${month}.csv`);
    const [head, ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(head).to.match(/^month,kind,id,name,.*,label:costCentre/);
    expect(
      lines.some((line) => line.startsWith(`${month},database,${id},default,`) && line.includes(',4711')),
    ).to.equal(true);
    await use.getByLabel('Month').selectOption({ index: 1 });
    await eventually(() => expect(page.url()).to.match(/month=\d{4}-\d\d/));
  });

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      const { page } = person;
      for (const [words, shown] of [
        ['', page.locator('.table-box')],
        ['?tab=keys', row(page, 'default')],
        ['?tab=plans', page.getByRole('region', { name: 'Databases by plan' }).getByRole('cell')],
        ['?tab=usage', page.locator('canvas')],
      ] as const) {
        await page.goto(at(words));
        await shown.first().waitFor();
        expect(await person.inaccessible(), words).to.deep.equal([]);
        expect(await person.isTooWide(), words).to.equal(false);
      }
    });
  }

  it('shows no buttons for changes to a read-only key, whose changes are refused', async () => {
    const person = (await browser.person(undefined, await browser.readOnlyKey('only looks'))).allowProblem(/^403 /);
    const { page } = person;
    const changing = page.locator('#main').getByRole('button', { name: /new|add|remove|delete|save/i });
    for (const [words, shown] of [
      ['', row(page, EMAIL)],
      ['?tab=keys', row(page, 'only looks')],
      ['?tab=plans', page.getByRole('region', { name: 'Plan of the queue' })],
    ] as const) {
      await page.goto(at(words));
      await shown.first().waitFor();
      expect(await changing.count(), words).to.equal(0);
    }
    const status = await page.evaluate(async () => {
      const { csrf } = (await (await fetch('/console/api/session')).json()) as { csrf: string };
      const headers = { 'Millrace-Csrf': csrf };
      return (await fetch('/v2/apikey/only%20looks', { method: 'DELETE', headers })).status;
    });
    expect(status).to.equal(403);
    expect((await browser.manage('GET', '/v2/apikeys')).status, KEY).to.equal(200);
  });
});
