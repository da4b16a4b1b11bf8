/** Search databases: creation, documents, queries and deletion; contents of documents are shown as text. */
import { Search } from '@upstash/search';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror="document.title=1"> שלום';
const FILMS = [
  { id: 'film:1', content: { title: 'Star Wars', year: 1977 }, metadata: { seen: true } },
  { id: 'film:2', content: { title: 'Stargate', year: 1994 }, metadata: { seen: false } },
  { id: 'film:3', content: { title: 'Solaris', year: 1972 }, metadata: { seen: false } },
  { id: HOSTILE, content: { title: HOSTILE, year: 1950 }, metadata: { large: 'x'.repeat(40_000) } },
];

interface Made {
  readonly id: string;
  readonly endpoint: string;
  readonly token: string;
}

const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name });

describe('console: search', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let films: Made;
  let client: Search;

  before(async () => {
    const body = { name: 'films', region: 'eu-west-1', type: 'payg' };
    films = (await browser.manage('POST', '/v2/search', body)).json as Made;
    client = new Search({ url: `http://${films.endpoint}`, token: films.token });
    await client.index('all').upsert(FILMS);
    await eventually(async () => {
      expect((await client.index('all').search({ query: 'Solaris' })).map(({ id }) => id)).to.include('film:3');
    });
  });

  const at = (words = '') => `${browser.url}/console/search/${films.id}${words}`;

  it('creates a search database, shows how to connect to it, and deletes it after its name is typed', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/search`);
    await page.getByRole('button', { name: 'New search database' }).click();
    await page.getByLabel('Name').fill('papers');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'papers' }).waitFor();
    const tokens = page.locator('dd').filter({ hasText: '••••' });
    expect(await tokens.count()).to.equal(2);
    await page.getByRole('button', { name: 'Show tokens' }).click();
    expect(await tokens.count()).to.equal(0);
    await page.getByRole('button', { name: '@upstash/search' }).click();
    expect(await page.locator('.code').textContent()).to.include('new Search({');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name').fill('articles');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name: 'articles' }).waitFor();
    await page.getByRole('button', { name: 'Delete the search database' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete it' }).isDisabled()).to.equal(true);
    await dialog.getByRole('textbox').fill('articles');
    await dialog.getByRole('button', { name: 'Delete it' }).click();
    await row(page, 'films').waitFor();
    expect(await row(page, 'articles').count()).to.equal(0);
  });

  it('sets a label with the statistics of an index', async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=statistics'));
    const labels = page.getByRole('region', { name: 'Labels' });
    await labels.getByLabel('Label', { exact: true }).fill('team');
    await labels.getByLabel('Value').fill('shop');
    await labels.getByRole('button', { name: 'Set the label' }).click();
    await labels.getByRole('button', { name: 'team: shop' }).waitFor();
  });

  it('resets tokens after the name is typed', async () => {
    const made = (await browser.manage('POST', '/v2/search', { name: 'reset', region: 'eu-west-1', type: 'payg' }))
      .json;
    const { id, token } = made as Made;
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/search/${id}?tab=connect`);
    await page.getByRole('button', { name: 'Reset tokens' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('reset');
    await page.getByRole('button', { name: 'Give new tokens' }).click();
    await page.getByText('It has new tokens').waitFor();
    const now = (await browser.manage('GET', `/v2/search/${id}`)).json as Made;
    expect(now.token).not.to.equal(token);
  });

  it('stores documents written as JSON, reports invalid JSON, and changes a document', async () => {
    const { page } = await browser.person();
    await page.goto(at('?index=written'));
    await page.getByText('No documents here yet').waitFor();
    await page.getByRole('link', { name: 'Add documents' }).click();
    await page.getByLabel('JSON').fill('{"id":');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByText('This is no JSON').waitFor();
    await page
      .getByLabel('JSON')
      .fill('[{"id":"a","content":{"title":"first"}},{"id":"b","content":{"title":"second"}}]');
    await page.getByRole('button', { name: 'Store' }).click();
    await row(page, 'second').waitFor();
    await row(page, 'first').getByRole('link', { name: 'a' }).click();
    const text = page.getByLabel('JSON');
    await text.fill((await text.inputValue()).replace('first', 'the first'));
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'the first').waitFor();
  });

  it('deletes a document after a delay, unless the deletion is undone', async () => {
    await client.index('kept').upsert([
      { id: 'one', content: { n: 1 } },
      { id: 'two', content: { n: 2 } },
    ]);
    const { page } = await browser.person();
    await page.goto(at('?index=kept'));
    await row(page, 'one').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'one').waitFor();
    await page.getByLabel('Choose two').check();
    await page.getByRole('button', { name: 'Delete 1' }).click();
    await eventually(async () => expect(await client.index('kept').fetch(['two'])).to.deep.equal([null]));
    expect(await client.index('kept').fetch(['one'])).not.to.deep.equal([null]);
  });

  it('finds documents with typos and a filter, marks matches, and explains the score', async () => {
    const { page } = await browser.person();
    await page.goto(at('?tab=query&index=all'));
    await page.getByLabel('Query').fill('star wras');
    await page.getByLabel('Filter').fill('year < 1990');
    await page.getByLabel('Show how scores came about').check();
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    const first = page.getByRole('article').first();
    await first.getByRole('link', { name: 'film:1' }).waitFor();
    expect(await first.locator('mark').allTextContents()).to.deep.equal(['Star', 'Wars']);
    const why = (await first.locator('.search-why').textContent()) ?? '';
    const [words = 0, likeness = 0] = [...why.matchAll(/= ([\d.]+)/g)].map(([, sum]) => Number(sum));
    const score = Number(await first.locator('.search-score').textContent());
    expect(words + likeness).to.be.closeTo(score, 0.01);
    expect(await page.getByRole('link', { name: 'film:2' }).count()).to.equal(0);
    expect(page.url()).to.match(/q=star\+wras/);
    await first.getByRole('link', { name: 'film:1' }).click();
    await page.getByLabel('JSON').waitFor();
  });

  it('shows the position of an error in a filter', async () => {
    const person = (await browser.person()).allowProblem(/^400 /);
    await person.page.goto(at('?tab=query&index=all&q=star&filter=year+%3E%3D+'));
    await person.page.getByRole('alert').waitFor();
    expect(await person.page.getByRole('alert').textContent()).to.match(/filter at character \d+/);
  });

  it('shows hostile documents as text', async () => {
    const { page } = await browser.person();
    await page.goto(at('?index=all'));
    await row(page, HOSTILE).getByRole('link').click();
    expect(await page.getByLabel('JSON').inputValue()).to.include('xxxxxxxx');
    await page.goto(at(`?tab=query&index=all&q=${encodeURIComponent(HOSTILE)}`));
    await page.getByRole('article').first().getByText('<img src=').first().waitFor();
    expect(await page.title()).to.equal('films · Millrace');
  });

  it('renames, empties and deletes an index', async () => {
    await client.index('old').upsert([{ id: 'one', content: { n: 1 } }]);
    const { page } = await browser.person();
    await page.goto(at('?tab=settings'));
    await row(page, 'old').getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('fresh');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await row(page, 'fresh').getByRole('button', { name: 'Empty' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('fresh');
    await page.getByRole('button', { name: 'Delete them' }).click();
    await eventually(async () => expect(await row(page, 'fresh').textContent()).to.match(/^fresh0/));
    await row(page, 'fresh').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('fresh');
    await page.getByRole('button', { name: 'Delete it' }).click();
    await eventually(async () => expect(await row(page, 'fresh').count()).to.equal(0));
  });

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      const { page } = person;
      for (const [path, shown] of [
        [`${browser.url}/console/search`, row(page, 'films')],
        [at('?index=all'), row(page, 'film:1')],
        [at('?tab=query&index=all&q=star&why=1'), page.getByRole('article')],
        [at('?tab=connect'), page.locator('.code')],
        [at('?tab=statistics'), page.locator('canvas')],
        [at('?tab=settings'), row(page, 'all')],
      ] as const) {
        await page.goto(path);
        await shown.first().waitFor();
        expect(await person.inaccessible(), path).to.deep.equal([]);
        expect(await person.isTooWide(), path).to.equal(false);
      }
    });
  }

  it('shows no buttons for changes to a read-only key, whose changes are refused', async () => {
    const person = (await browser.person(undefined, await browser.readOnlyKey('looks at films'))).allowProblem(/^403 /);
    const { page } = person;
    const changing = page.locator('#main').getByRole('button', { name: /new|delete|reset|rename|empty|store/i });
    for (const [path, shown] of [
      [`${browser.url}/console/search`, row(page, 'films')],
      [at('?index=all'), row(page, 'film:1')],
      [at('?tab=connect'), page.locator('.code')],
    ] as const) {
      await page.goto(path);
      await shown.first().waitFor();
      expect(await changing.count(), path).to.equal(0);
      expect(await page.getByRole('link', { name: /Add documents|Settings/ }).count(), path).to.equal(0);
    }
    await page.goto(at('?index=all&doc=film:1'));
    await page.getByRole('dialog').locator('.code').waitFor();
    const status = await page.evaluate(async (id) => {
      const { csrf } = (await (await fetch('/console/api/session')).json()) as { csrf: string };
      const path = `/console/api/search/${id}/reset/all`;
      return (await fetch(path, { method: 'POST', headers: { 'Millrace-Csrf': csrf } })).status;
    }, films.id);
    expect(status).to.equal(403);
  });
});
