/** Vector indexes: creation, browsing by namespace, queries by vector, text and stored vector, export and import. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Index } from '@upstash/vector';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';
import { temporaryDirectory } from '../support/millrace-process.js';

const FILMS = [
  { id: 'film:1', vector: [1, 0, 0], metadata: { title: 'Metropolis', year: 1927 } },
  { id: 'film:2', vector: [0.6, 0.8, 0], metadata: { title: 'Alien', year: 1979 } },
  { id: 'film:3', vector: [0, 0, 1], metadata: { title: 'Solaris', year: 1972 } },
];
const BOOKS = [
  { id: 'book:1', data: 'a ship in deep space' },
  { id: 'book:2', data: 'a garden in spring' },
];

interface Made {
  readonly id: string;
  readonly endpoint: string;
  readonly token: string;
}

const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name });
const found = (page: Page) => page.getByRole('article').getByRole('heading').getByRole('link');

describe('console: vectors', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let films: Made;
  let books: Made;

  before(async () => {
    films = await made({ name: 'films', similarity_function: 'COSINE', dimension_count: 3 });
    books = await made({ name: 'books', embedding_model: 'HASHING', dimension_count: 64 });
    await clientOf(films).upsert(FILMS);
    await clientOf(films)
      .namespace('old')
      .upsert([{ id: 'film:0', vector: [0, 1, 0] }]);
    await clientOf(books).upsert(BOOKS);
    for (const index of [films, books]) {
      await eventually(async () => expect((await clientOf(index).info()).pendingVectorCount).to.equal(0));
    }
  });

  async function made(body: object): Promise<Made> {
    const whole = { region: 'eu-west-1', type: 'payg', ...body };
    return (await browser.manage('POST', '/v2/vector/index', whole)).json as Made;
  }
  const clientOf = ({ endpoint, token }: Made) => new Index({ url: `http://${endpoint}`, token });
  const at = ({ id }: Made, words = '') => `${browser.url}/console/vectors/${id}${words}`;

  it('creates an index with kind, metric and dimensions, shows how to connect, and deletes it after its name is typed', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/vectors`);
    await page.getByRole('button', { name: 'New vector index' }).click();
    await page.getByLabel('Name').fill('songs');
    await page.getByLabel('Kind').selectOption('HYBRID');
    await page.getByLabel('Similarity').selectOption('EUCLIDEAN');
    await page.getByRole('spinbutton', { name: 'Dimensions' }).fill('8');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'songs' }).waitFor();
    await page.getByText('hybrid, 8, euclidean').waitFor();
    await page.getByRole('button', { name: '@upstash/vector' }).click();
    expect(await page.locator('.code').textContent()).to.include('new Index({');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Delete the vector index' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('songs');
    await page.getByRole('button', { name: 'Delete it' }).click();
    await row(page, 'films').waitFor();
    expect(await row(page, 'songs').count()).to.equal(0);
  });

  it('lists the vectors of a namespace, and stores and changes one as JSON', async () => {
    const { page } = await browser.person();
    await page.goto(at(films));
    await row(page, 'film:1').waitFor();
    await page.getByLabel('Namespace').selectOption('old');
    await row(page, 'film:0').waitFor();
    await page.getByRole('link', { name: 'Add vectors' }).click();
    await page.getByLabel('JSON').fill('{"id":"film:9","vector":[0,1,0],"metadata":{"title":"Nosferatu"}}');
    await page.getByRole('button', { name: 'Store' }).click();
    await row(page, 'Nosferatu').getByRole('link', { name: 'film:9' }).click();
    const text = page.getByLabel('JSON');
    await text.fill((await text.inputValue()).replace('Nosferatu', 'Vampyr'));
    await page.getByRole('button', { name: 'Save' }).click();
    await row(page, 'Vampyr').waitFor();
  });

  it('finds the nearest vectors by a vector with a filter, and by a stored vector', async () => {
    const { page } = await browser.person();
    await page.goto(at(films, '?tab=query'));
    await page.getByLabel('Vector', { exact: true }).fill('1, 0, 0');
    await page.getByLabel('Filter').fill('year > 1950');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await found(page).first().waitFor();
    expect(await found(page).allTextContents()).to.deep.equal(['film:2', 'film:3']);
    expect(await page.locator('.search-score').first().textContent()).to.equal('0.8');
    await page.getByRole('link', { name: 'More like this' }).first().click();
    await eventually(async () => expect(page.url()).to.match(/by=like&q=film%3A2|q=film%3A2.*by=like/));
    await eventually(async () => expect(await found(page).allTextContents()).to.deep.equal(['film:3']));
  });

  it('finds vectors by a text where the index has a model', async () => {
    const { page } = await browser.person();
    await page.goto(at(books, '?tab=query'));
    await page.getByRole('textbox', { name: 'Text' }).fill('a ship in space');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await found(page).first().waitFor();
    expect(await found(page).first().textContent()).to.equal('book:1');
    await page.getByText('a ship in deep space').waitFor();
  });

  it('says what is wrong with a vector of another dimension, and with a text that is no vector', async () => {
    const person = (await browser.person()).allowProblem(/^422 /);
    const { page } = person;
    await page.goto(at(films, '?tab=query&by=vector&q=1,0'));
    await page.getByText('Invalid vector dimension: 2, expected: 3').waitFor();
    await page.goto(at(films, '?tab=query&by=vector&q=ship'));
    await page.getByText('Enter numbers separated by commas, or JSON').waitFor();
  });

  it('exports a namespace as JSON lines and imports such a file; a line that is no JSON stores nothing', async () => {
    const { page } = await browser.person();
    await page.goto(at(films));
    await row(page, 'film:1').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const text = await readFile((await download.path()) as string, 'utf8');
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as (typeof FILMS)[number]);
    expect(lines.map(({ id, metadata }) => [id, metadata.title])).to.deep.equal([
      ['film:1', 'Metropolis'],
      ['film:2', 'Alien'],
      ['film:3', 'Solaris'],
    ]);
    expect(lines[0]?.vector).to.deep.equal([1, 0, 0]);
    const file = join(await temporaryDirectory(), 'films.jsonl');
    const copy = await made({ name: 'copy', similarity_function: 'COSINE', dimension_count: 3 });
    await page.goto(at(copy));
    await writeFile(file, `${text}not JSON\n`);
    await page.getByLabel('File to import').setInputFiles(file);
    await page.getByText('Line 4 is no JSON: the file is not stored').waitFor();
    expect((await clientOf(copy).info()).vectorCount).to.equal(0);
    await writeFile(file, text);
    await page.getByLabel('File to import').setInputFiles(file);
    await page.getByText('3 vectors stored').waitFor();
    await row(page, 'film:3').waitFor();
  });

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      const { page } = person;
      for (const [path, shown] of [
        [`${browser.url}/console/vectors`, row(page, 'films')],
        [at(films), row(page, 'film:1')],
        [at(films, '?tab=query&by=vector&q=1,0,0'), page.getByRole('article')],
        [at(films, '?tab=connect'), page.locator('.code')],
        [at(films, '?tab=statistics'), page.locator('canvas')],
        [at(films, '?tab=settings'), row(page, '(default)')],
      ] as const) {
        await page.goto(path);
        await shown.first().waitFor();
        expect(await person.inaccessible(), path).to.deep.equal([]);
        expect(await person.isTooWide(), path).to.equal(false);
      }
    });
  }
});
