/** Values in the data browser: each type shown and edited. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror=alert(1)>';

describe('console: values of each type', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let id = '';

  before(async () => {
    id = await browser.firstDatabase();
    for (const words of FIRST_KEYS) await browser.kv(...words);
  });

  const personAt = (words: string, key?: string) => browser.personAt(`/console/databases/${id}?tab=data${words}`, key);

  for (const view of VIEWS) {
    it(`fits and is accessible with keys of every type at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      for (const key of [
        '',
        'greeting',
        'user:1',
        'tasks',
        'tags',
        'board',
        'events',
        'events&part=groups',
        'ticks',
        'points',
        'films',
        'doc',
      ]) {
        await person.open(`/console/databases/${id}?tab=data${key === '' ? '' : `&key=${key}`}`);
        await person.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        await person.heading().waitFor();
        expect(await person.inaccessible(), key).to.deep.equal([]);
        expect(await person.isTooWide(), key).to.equal(false);
      }
    });
  }

  it('shows the definition and the size of an index, and finds documents by a filter', async () => {
    const { page } = await personAt('&key=films');
    await page.getByRole('row', { name: /^title/ }).waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('{"title":{"$eq":"wars"}}');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    const found = page.getByRole('region', { name: 'Found documents' });
    await found.getByRole('row', { name: /^film:1/ }).waitFor();
    expect(await found.getByRole('row').count()).to.equal(2);
  });

  it('edits a string as text, JSON and hex', async () => {
    const { page } = await personAt('&key=greeting');
    const field = page.getByLabel(/^Value, /);
    await field.fill('{"a": 12345678901234567890}');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await browser.kv('GET', 'greeting')).to.equal('{"a": 12345678901234567890}'));
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(await field.inputValue()).to.equal('{\n  "a": 12345678901234567890\n}');
    await page.getByRole('button', { name: 'Hex' }).click();
    await field.fill('00 ff 80');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await browser.kv('STRLEN', 'greeting')).to.equal(3));
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByText('Its bytes are no text.').waitFor();
    await field.fill('0g');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Hex has two digits for each byte.').waitFor();
    await browser.kv('SET', 'greeting', 'hello');
  });

  it('updates the size in the list after a value is saved', async () => {
    await browser.kv('SET', 'grown', 'x');
    const { page } = await personAt('&key=grown');
    const row = page.locator('.key-row', { hasText: 'grown' });
    await page.getByLabel('Value, 1 B').fill('x'.repeat(3000));
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('3 KiB').waitFor();
    await page.getByLabel('Value, 2.9 KiB').waitFor();
  });

  it('keeps text typed while a value is being saved', async () => {
    await browser.kv('SET', 'slow', 'x');
    const { page } = await personAt('&key=slow');
    const field = page.getByLabel(/^Value, /);
    await field.fill('first');
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/*', async (route) => {
      if (route.request().method() === 'POST') await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    await field.fill('first and second');
    goOn();
    await page.getByLabel('Value, 5 B').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await browser.kv('GET', 'slow')).to.equal('first and second'));
  });

  it('does not create a deleted key again when its value is saved', async () => {
    await browser.kv('SET', 'fleeting', 'x');
    const { page } = await personAt('&key=fleeting');
    await page.getByLabel(/^Value, /).fill('y');
    await browser.kv('DEL', 'fleeting');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The key is gone').waitFor();
    expect(await browser.kv('EXISTS', 'fleeting')).to.equal(0);
  });

  it('loads the first 64 KiB of a large value, and all of it on request', async () => {
    await browser.kv('SET', 'large', 'lorem ipsum '.repeat(90_000));
    const { page } = await personAt('&key=large');
    await page.getByText('The first 64 KiB').waitFor();
    expect((await page.getByLabel(/^Value, /).inputValue()).length).to.equal(65_536);
    await page.getByRole('button', { name: 'Load all' }).click();
    await eventually(async () => expect((await page.getByLabel(/^Value, /).inputValue()).length).to.equal(1_080_000));
  });

  it('adds, edits and removes fields of a hash, with their expiry', async () => {
    const { page } = await personAt('&key=user:1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Field, /).fill('email');
    await dialog.getByLabel(/^Value, /).fill(HOSTILE);
    await dialog.getByLabel('Expires after seconds').fill('500');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const row = page.getByRole('row', { name: /^email/ });
    await row.getByText(HOSTILE).waitFor();
    const [left] = (await browser.kv('HTTL', 'user:1', 'FIELDS', 1, 'email')) as number[];
    expect(left).to.be.within(450, 500);
    await row.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel(/^Value, /).fill('ada@example.org');
    await dialog.getByLabel('Expires after seconds').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('ada@example.org').waitFor();
    expect(await browser.kv('HTTL', 'user:1', 'FIELDS', 1, 'email')).to.deep.equal([-1]);
    await row.getByRole('button', { name: 'Take it out' }).click();
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await browser.kv('HGETALL', 'user:1')).to.deep.equal(['name', 'Ada']);
  });

  it('edits elements of a list by index, and refuses an edit after the list has changed', async () => {
    const { page } = await personAt('&key=tasks');
    const edit = async (name: RegExp, value: string) => {
      await page.getByRole('row', { name }).getByRole('button', { name: 'Edit' }).click();
      await page
        .getByRole('dialog')
        .getByLabel(/^Value, /)
        .fill(value);
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    };
    await edit(/^1 b/, 'bb');
    await page.getByRole('row', { name: /^1 bb/ }).waitFor();
    await page.getByRole('row', { name: /^2 c/ }).getByRole('button', { name: 'Take it out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it out' }).click();
    await eventually(async () => expect(await browser.kv('LRANGE', 'tasks', 0, -1)).to.deep.equal(['a', 'bb', 'd']));
    await page.getByRole('row', { name: /^2 d/ }).waitFor();
    await browser.kv('LPUSH', 'tasks', 'new');
    await edit(/^0 a/, 'x');
    await page.getByText('The list has changed').waitFor();
    expect(await browser.kv('LRANGE', 'tasks', 0, -1)).to.deep.equal(['new', 'a', 'bb', 'd']);
  });

  it('changes members of a set, and scores of a sorted set', async () => {
    const { page } = await personAt('&key=tags');
    await page.getByRole('row', { name: /^red/ }).getByRole('button', { name: 'Edit' }).click();
    await page
      .getByRole('dialog')
      .getByLabel(/^Member, /)
      .fill('crimson');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /^crimson/ }).waitFor();
    expect(await browser.kv('SISMEMBER', 'tags', 'red')).to.equal(0);
    await page.goto(`${browser.url}/console/databases/${id}?tab=data&key=board`);
    await page.getByRole('row', { name: /ada/ }).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Score').fill('7.25');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await browser.kv('ZSCORE', 'board', 'ada')).to.equal('7.25'));
    await page.getByRole('button', { name: 'Highest first' }).click();
    await page.getByRole('row', { name: /bob/ }).waitFor();
  });

  it('edits, appends and removes values of an array, with all digits of their indexes', async () => {
    const { page } = await personAt('&key=ticks');
    const dialog = page.getByRole('dialog');
    await page.getByRole('row', { name: /^18446744073709551614/ }).waitFor();
    await page.getByRole('row', { name: /^7/ }).getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel(/^Value, /).fill('changed');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await browser.kv('ARGET', 'ticks', 7)).to.equal('changed'));
    await page.getByRole('button', { name: 'Add' }).click();
    await dialog.getByLabel(/^Value, /).fill('appended');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await eventually(async () => expect(await browser.kv('ARGET', 'ticks', 0)).to.equal('appended'));
    await page.getByRole('button', { name: 'Highest first' }).click();
    await eventually(async () => expect(await page.getByRole('row').nth(1).textContent()).to.include('last'));
    await page.getByRole('row', { name: /last/ }).getByRole('button', { name: 'Take it out' }).click();
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await eventually(async () => expect(await browser.kv('ARCOUNT', 'ticks')).to.equal(2));
  });

  it('finds the vectors nearest to one of an index, and removes it', async () => {
    const { page } = await personAt('&key=points');
    await page.getByText('COSINE').waitFor();
    await page.getByLabel('Id of a vector').fill('none');
    await page.getByRole('button', { name: 'Find the nearest' }).click();
    await page.getByText('The index has no vector of that id.').waitFor();
    await page.getByLabel('Id of a vector').fill('right');
    await page.getByRole('button', { name: 'Find the nearest' }).click();
    await page.getByRole('row', { name: /right 1\.000000/ }).waitFor();
    await page.getByRole('row', { name: /up 0\.500000/ }).waitFor();
    await page.getByRole('button', { name: 'Take it out' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it out' }).click();
    await eventually(async () => expect(await browser.kv('VECTOR.COUNT', 'points')).to.equal(1));
  });

  it('shows the facts of a filter, and the most frequent items of a Top-K sketch', async () => {
    const { page } = await personAt('&key=visitors');
    await page.getByText('Number of items inserted').waitFor();
    await page.goto(page.url().replace('key=visitors', 'key=pages'));
    await page.getByText('/pricing').waitFor();
    await page.getByText('decay').waitFor();
  });

  it('pages through a large collection, and filters it', async () => {
    for (let at = 0; at < 2_000; at += 500) {
      await browser.kv('HSET', 'wide', ...Array.from({ length: 500 }, (_, one) => [`f${at + one}`, 'v']).flat());
    }
    const { page } = await personAt('&key=wide');
    await page.getByText(/^1\d\d on this page/).waitFor();
    const first = await page.getByRole('row').nth(1).textContent();
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually(async () => expect(await page.getByRole('row').nth(1).textContent()).to.not.equal(first));
    await page.getByLabel('Pattern of fields').fill('f1999');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /^f1999/ }).waitFor();
    await page.getByText('1 on this page').waitFor();
  });

  it('shows a stream, adds an entry, and shows its groups', async () => {
    const { page } = await personAt('&key=events');
    await page.getByText('order', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Add an entry' }).click();
    await page.getByRole('dialog').getByLabel('Field 1').fill('order');
    await page.getByRole('dialog').getByLabel('Value 1').fill('99');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await eventually(async () => expect(await browser.kv('XLEN', 'events')).to.equal(4));
    await page.getByRole('button', { name: 'Groups' }).click();
    await page
      .getByRole('row', { name: /^billing \S+ 1 2 2/ })
      .getByRole('button', { name: 'Readers' })
      .click();
    await page
      .getByRole('row', { name: /worker/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).first().click();
    await page.getByRole('row', { name: /^billing \S+ 1 1 2/ }).waitFor();
    await page.getByLabel('New group').fill('mailing');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('row', { name: /^mailing/ }).waitFor();
  });

  it('shows a JSON document as a tree with all digits of numbers, and edits parts of it', async () => {
    const { page } = await personAt('&key=doc');
    await page.getByText('12345678901234567890').waitFor();
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByRole('dialog').getByLabel('JSON').fill('"Shop"');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('"Shop"').waitFor();
    await page.getByRole('button', { name: 'Add to items' }).click();
    await page.getByRole('dialog').getByLabel('JSON').fill('{"b":2}');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await eventually(async () =>
      expect(await browser.kv('JSON.GET', 'doc', '$.items')).to.equal('[[{"a":1},{"b":2}]]'),
    );
    await page.getByRole('button', { name: 'Take out big' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it out' }).click();
    await eventually(async () => expect(await browser.kv('JSON.TYPE', 'doc', '$.big')).to.deep.equal([]));
  });
});

const FIRST_KEYS: readonly (readonly (string | number)[])[] = [
  ['SET', 'greeting', 'hello'],
  ['HSET', 'user:1', 'name', 'Ada'],
  ['RPUSH', 'tasks', 'a', 'b', 'c', 'd'],
  ['SADD', 'tags', 'red', 'green'],
  ['ZADD', 'board', 1, 'ada', 2, 'bob'],
  ['XADD', 'events', '*', 'order', 1],
  ['XADD', 'events', '*', 'order', 2],
  ['XADD', 'events', '*', 'order', 3],
  ['XGROUP', 'CREATE', 'events', 'billing', '0'],
  ['XREADGROUP', 'GROUP', 'billing', 'worker', 'COUNT', 2, 'STREAMS', 'events', '>'],
  ['SEARCH.CREATE', 'films', 'ON', 'JSON', 'PREFIX', 1, 'film:', 'SCHEMA', 'title', 'TEXT', 'year', 'U64', 'FAST'],
  ['JSON.SET', 'film:1', '$', '{"title":"Star Wars","year":1977}'],
  ['JSON.SET', 'film:2', '$', '{"title":"Alien","year":1979}'],
  ['ARMSET', 'ticks', 0, 'first', 7, 'seventh', '18446744073709551614', 'last'],
  ['BF.ADD', 'visitors', 'ann'],
  ['TOPK.RESERVE', 'pages', 3],
  ['TOPK.ADD', 'pages', '/pricing', '/docs', '/pricing'],
  ['VECTOR.CREATE', 'points', 'DIM', 2, 'METRIC', 'COSINE'],
  ['VECTOR.ADD', 'points', 'right', 'VALUES', 2, 1, 0],
  ['VECTOR.ADD', 'points', 'up', 'VALUES', 2, 0, 1],
  ['JSON.SET', 'doc', '$', '{"title":"Catalog","big":12345678901234567890,"items":[{"a":1}]}'],
];
