/** Databases: the list, creation, settings, connection and deletion. */
import { expect } from 'chai';
import { ConsoleBrowser, type ConsolePage, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const TABS = ['overview', 'connect', 'data', 'line', 'diagnosis', 'backups', 'branches', 'users'];
const HOSTILE = '<b onmouseover=alert(1)>x</b>';

interface Made {
  readonly database_id: string;
  readonly rest_token: string;
  readonly password: string;
}

describe('console: databases', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let shop = '';

  before(async () => {
    shop = (await made('shop')).database_id;
  });

  async function made(name: string): Promise<Made> {
    const body = { database_name: name, primary_region: 'eu-west-1' };
    return (await browser.manage('POST', '/v2/kv/database', body)).json as Made;
  }

  async function record(id: string): Promise<Record<string, unknown>> {
    return (await browser.manage('GET', `/v2/kv/database/${id}`)).json as Record<string, unknown>;
  }

  async function personAt(path: string): Promise<ConsolePage> {
    const person = await browser.person();
    await person.open(path);
    await person.heading().waitFor();
    return person;
  }

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      for (const path of ['', ...TABS.map((tab) => `/${shop}?tab=${tab}`)]) {
        await person.open(`/console/databases${path}`);
        await person.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        await person.heading().waitFor();
        expect(await person.inaccessible(), path).to.deep.equal([]);
        expect(await person.isTooWide(), path).to.equal(false);
      }
    });
  }

  it('lists all databases with their sizes, and filters by name with the filter in the address', async () => {
    await made(HOSTILE);
    const { page } = await personAt('/console/databases');
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await page.getByLabel('Name or id').fill('sho');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: HOSTILE }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row').count()).to.equal(2);
    expect(page.url()).to.include('find=sho');
    await page.getByLabel('Name or id').fill('nothing of that name');
    await page.keyboard.press('Enter');
    await page.getByText('No database is like that').waitFor();
  });

  it('creates a database, and shows how to connect to it', async () => {
    const { page } = await personAt('/console/databases');
    await page.getByRole('button', { name: 'New database' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('fresh');
    await page.getByRole('dialog').getByLabel('Plan').selectOption('fixed_1gb');
    await page.getByRole('dialog').getByLabel('Cluster mode').check();
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.locator('h1', { hasText: 'fresh' }).waitFor();
    await page.getByRole('heading', { name: 'Ready lines' }).waitFor();
    const [id = ''] = /[0-9a-f-]{36}/.exec(page.url()) ?? [];
    expect(await record(id)).to.include({ database_name: 'fresh', database_type: 'Fixed 1GB', cluster: true });
  });

  it('shows the error in a new database, and keeps the input', async () => {
    const person = (await personAt('/console/databases')).allowProblem(/^400 /);
    const { page } = person;
    await page.getByRole('button', { name: 'New database' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('many');
    await page.getByRole('dialog').getByLabel('Partitions').fill('100000');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page
      .getByText(/partitions/)
      .last()
      .waitFor();
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).to.equal('many');
  });

  it('changes name, plan, budget, addresses and switches', async () => {
    const { database_id: id } = await made('before');
    const { page } = await personAt(`/console/databases/${id}`);
    await page.getByLabel('Name', { exact: true }).fill('after');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.locator('h1', { hasText: 'after' }).waitFor();
    await page.getByRole('combobox', { name: 'Plan' }).selectOption('fixed_5gb');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByLabel(/^Budget/).fill('42');
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await page.getByLabel(/^Allowed IPv4/).fill('127.0.0.0/8\n203.0.113.7');
    await page.getByRole('button', { name: 'Set addresses' }).click();
    // The box shows the stored state, which follows the answer.
    await page.getByLabel('Evict keys when it is full').click();
    await eventually(async () =>
      expect(await record(id)).to.deep.include({
        database_name: 'after',
        database_type: 'Fixed 5GB',
        budget: 42,
        allowed_ip_ranges: ['127.0.0.0/8', '203.0.113.7'],
        eviction: true,
      }),
    );
    await page.getByText('203.0.113.7', { exact: false }).first().waitFor();
  });

  it('sets, replaces and removes a label on the overview', async () => {
    const { database_id: id } = await made('labelled');
    const { page } = await personAt(`/console/databases/${id}`);
    const labels = page.getByRole('region', { name: 'Labels' });
    await labels.getByText('No label').waitFor();
    for (const value of ['4711', HOSTILE]) {
      await labels.getByLabel('Label', { exact: true }).fill('costCentre');
      await labels.getByLabel('Value').fill(value);
      await labels.getByRole('button', { name: 'Set the label' }).click();
      await labels.getByRole('button', { name: `costCentre: ${value}` }).waitFor();
    }
    const all = (await browser.manage('GET', '/v2/labels')).json;
    expect(all).to.deep.equal([{ id, labels: { costCentre: HOSTILE } }]);
    await labels.getByRole('button', { name: 'Remove the label costCentre' }).click();
    await labels.getByText('No label').waitFor();
  });

  it('shows statistics of the chosen period', async () => {
    const { page } = await personAt(`/console/databases/${shop}`);
    await page.getByRole('heading', { name: 'Commands a second' }).waitFor();
    await page.getByRole('button', { name: 'Week' }).click();
    await eventually(() => expect(page.url()).to.include('period=7d'));
    await page.getByRole('img', { name: /^Latency/ }).waitFor();
  });

  it('hides secrets until they are requested, and has lines for each client', async () => {
    const { rest_token: token, password, database_id: id } = await made('secretive');
    const { page } = await personAt(`/console/databases/${id}?tab=connect`);
    await page.getByRole('heading', { name: 'Ready lines' }).waitFor();
    expect(await page.locator('main').textContent()).to.not.include(token);
    await page.getByRole('button', { name: 'Show secrets' }).click();
    expect(await page.locator('main').textContent())
      .to.include(token)
      .and.include(password);
    const host = new URL(browser.process.kvUrl).host;
    for (const [client, line] of [
      ['curl', `http://${host}/set/greeting/hello`],
      ['@upstash/redis', `token: '${token}'`],
      ['upstash-redis', `token="${token}"`],
      ['redis-cli', `REDISCLI_AUTH='${password}'`],
      ['redis (Node.js)', `redis://default:${password}@`],
      ['ioredis', `redis://default:${password}@`],
      ['redis (Python)', `redis://default:${password}@`],
      ['Environment', `UPSTASH_REDIS_REST_TOKEN="${token}"`],
    ] as const) {
      await page.getByRole('button', { name: client, exact: true }).click();
      await eventually(async () => expect(await page.locator('pre').textContent(), client).to.include(line));
    }
    await page.getByRole('button', { name: 'Hide secrets' }).click();
    expect(await page.locator('main').textContent()).to.not.include(token);
  });

  it('resets secrets after the name is typed', async () => {
    const { rest_token: token, database_id: id } = await made('resets');
    const { page } = await personAt(`/console/databases/${id}?tab=connect`);
    await page.getByRole('button', { name: 'Reset' }).click();
    const go = page.getByRole('button', { name: 'Give it new ones' });
    expect(await go.isDisabled()).to.equal(true);
    await page.getByLabel(/^Type/).fill('resets');
    await go.click();
    await eventually(async () => expect((await record(id)).rest_token).to.not.equal(token));
  });

  it('changes the number of partitions after a confirmation, shows the progress, and why a change is refused', async () => {
    const { database_id: id } = await made('grows');
    const { page } = (await personAt(`/console/databases/${id}`)).allowProblem(/^400 /);
    const count = page.getByLabel('Number of partitions');
    await count.fill('2');
    await page.getByRole('button', { name: 'Change the number' }).click();
    await page.getByRole('dialog').getByText('CROSSSLOT').waitFor();
    await page.getByRole('button', { name: 'Begin the change' }).click();
    await page.getByText('The change to 2 partitions has begun.').waitFor();
    await eventually(async () => expect(await record(id)).to.include({ partitions: 2 }));
    await page.getByText('2 partitions serve').or(count).waitFor();
    await eventually(async () => expect(await count.inputValue()).to.equal('2'));
    expect((await browser.manage('POST', `/v2/kv/database/${id}/branches`, { name: 'of-grows' })).status).to.equal(200);
    await count.fill('1');
    await page.getByRole('button', { name: 'Change the number' }).click();
    await page.getByText('a branch keeps the partitions of its origin').waitFor();
  });

  it('deletes a database after its name is typed', async () => {
    const { database_id: id } = await made('ends');
    const { page } = await personAt(`/console/databases/${id}`);
    await page.getByRole('button', { name: 'Delete the database' }).click();
    await page.getByLabel(/^Type/).fill('ends');
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.locator('h1', { hasText: 'Databases' }).waitFor();
    expect((await browser.manage('GET', `/v2/kv/database/${id}`)).status).to.equal(404);
  });

  it('shows that a database is suspended, and an error for an unknown one', async () => {
    const { database_id: id } = await made('resting');
    await browser.command('db', 'suspend', 'resting');
    const person = (await personAt(`/console/databases/${id}`)).allowProblem(/^404 /);
    await person.page.getByText('This database is suspended').waitFor();
    await person.open('/console/databases/00000000-0000-8000-8000-000000000000');
    await person.page.getByRole('alert').waitFor();
  });

  it('shows every page to a read-only key, without buttons for changes', async () => {
    const person = await browser.person(undefined, await browser.readOnlyKey('only-looks'));
    const { page } = person;
    for (const tab of TABS) {
      await person.open(`/console/databases/${shop}?tab=${tab}`);
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      await person.heading().waitFor();
      for (const name of [
        'New key',
        'Rename',
        'Reset',
        'Delete the database',
        'Keep a backup',
        'Make a branch',
        'New user',
        'Empty it',
        'Set the label',
      ]) {
        expect(await page.getByRole('button', { name, exact: true }).count(), `${tab}: ${name}`).to.equal(0);
      }
    }
    await person.open('/console/databases');
    await page.getByRole('link', { name: 'shop' }).waitFor();
    expect(await page.getByRole('button', { name: 'New database' }).count()).to.equal(0);
  });
});
