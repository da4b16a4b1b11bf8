/** The data browser: keys of every type found, shown, edited, made and deleted; many of them; and hostile ones. */
import { expect } from 'chai';
import { ConsoleBrowser, type ConsolePage, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror=alert(1)>';
const RTL = '\u05e9\u05dc\u05d5\u05dd \u202eevil';

describe('console in a browser: the data of a database', function () {
  this.timeout(60_000);
  const browser = new ConsoleBrowser();
  let id = '';

  before(async () => {
    await browser.start();
    const [database] = (await browser.manage('GET', '/v2/kv/databases')).json as [{ database_id: string }];
    id = database.database_id;
    for (const words of FIRST_KEYS) await kv(...words);
  });
  afterEach(() => browser.allIsWell());
  after(() => browser.end());

  async function kv(...words: readonly (string | number)[]): Promise<unknown> {
    const outcome = await browser.process.kv.command(...words);
    return outcome.kind === 'done' ? outcome.result : outcome;
  }

  async function personAt(words: string, key?: string): Promise<ConsolePage> {
    const person = await browser.person(undefined, key);
    await person.open(`/console/databases/${id}?tab=data${words}`);
    await person.heading().waitFor();
    return person;
  }

  for (const view of VIEWS) {
    it(`fits and is accessible with keys of every type at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      for (const key of ['', 'greeting', 'user:1', 'tasks', 'tags', 'board', 'events', 'events&part=groups', 'doc']) {
        await person.open(`/console/databases/${id}?tab=data${key === '' ? '' : `&key=${key}`}`);
        await person.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
        await person.heading().waitFor();
        expect(await person.inaccessible(), key).to.deep.equal([]);
        expect(await person.isTooWide(), key).to.equal(false);
      }
    });
  }

  it('shows keys as folders, and finds them by pattern and type', async () => {
    const { page } = await personAt('');
    await page.getByRole('button', { name: /^user/ }).click();
    await page.getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('heading', { name: 'user:1' }).waitFor();
    await page.getByLabel('Pattern', { exact: true }).fill('oa');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'board' }).waitFor();
    expect(page.url()).to.include('match=oa');
    await page.getByLabel('Type').selectOption('hash');
    await page.getByText('No key is like that').waitFor();
  });

  it('makes a key of each type, and opens it', async () => {
    const { page } = await personAt('');
    for (const [type, label, part] of [
      ['string', 'Value', ''],
      ['hash', 'Value', 'field'],
      ['list', 'First element', ''],
      ['set', 'First member', ''],
      ['zset', 'Member', '1.5'],
      ['stream', 'Value', 'field'],
      ['ReJSON-RL', 'Document', ''],
    ] as const) {
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill(`made:${type}`);
      await dialog.getByLabel('Type').selectOption(type);
      if (part !== '') await dialog.getByLabel(part === 'field' ? 'Field' : 'Score').fill(part);
      await dialog.getByLabel(label, { exact: true }).fill('{"a":1}');
      await dialog.getByLabel('Expires after seconds').fill('1000');
      await dialog.getByRole('button', { name: 'Make it' }).click();
      await page.getByRole('heading', { name: `made:${type}` }).waitFor();
      expect(await kv('TYPE', `made:${type}`)).to.equal(type);
      expect(await kv('TTL', `made:${type}`)).to.be.within(900, 1_000);
    }
  });

  it('edits a string as text, as JSON and as hex', async () => {
    const { page } = await personAt('&key=greeting');
    const field = page.getByLabel(/^Value, /);
    await field.fill('{"a": 12345678901234567890}');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await kv('GET', 'greeting')).to.equal('{"a": 12345678901234567890}'));
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(await field.inputValue()).to.equal('{\n  "a": 12345678901234567890\n}');
    await page.getByRole('button', { name: 'Hex' }).click();
    await field.fill('00 ff 80');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await kv('STRLEN', 'greeting')).to.equal(3));
    await page.getByRole('button', { name: 'Text', exact: true }).click();
    await page.getByText('Its bytes are no text.').waitFor();
    await field.fill('0g');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Hex has two digits for each byte.').waitFor();
    await kv('SET', 'greeting', 'hello');
  });

  it('does not bring back a key that is gone when its value is saved', async () => {
    await kv('SET', 'fleeting', 'x');
    const { page } = await personAt('&key=fleeting');
    await page.getByLabel(/^Value, /).fill('y');
    await kv('DEL', 'fleeting');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The key is gone').waitFor();
    expect(await kv('EXISTS', 'fleeting')).to.equal(0);
  });

  it('loads the beginning of a value of a megabyte, and all of it on demand', async () => {
    await kv('SET', 'large', 'lorem ipsum '.repeat(90_000));
    const { page } = await personAt('&key=large');
    await page.getByText('The first 64 KiB').waitFor();
    expect((await page.getByLabel(/^Value, /).inputValue()).length).to.equal(65_536);
    await page.getByRole('button', { name: 'Load all' }).click();
    await eventually(async () => expect((await page.getByLabel(/^Value, /).inputValue()).length).to.equal(1_080_000));
  });

  it('adds, edits and takes out fields of a hash, with their expiry', async () => {
    const { page } = await personAt('&key=user:1');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Field, /).fill('email');
    await dialog.getByLabel(/^Value, /).fill(HOSTILE);
    await dialog.getByLabel('Expires after seconds').fill('500');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const row = page.getByRole('row', { name: /^email/ });
    await row.getByText(HOSTILE).waitFor();
    expect(await kv('HTTL', 'user:1', 'FIELDS', 1, 'email')).to.deep.equal([500]);
    await row.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel(/^Value, /).fill('ada@example.org');
    await dialog.getByLabel('Expires after seconds').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('ada@example.org').waitFor();
    expect(await kv('HTTL', 'user:1', 'FIELDS', 1, 'email')).to.deep.equal([-1]);
    await row.getByRole('button', { name: 'Take it out' }).click();
    await dialog.getByRole('button', { name: 'Take it out' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await kv('HGETALL', 'user:1')).to.deep.equal(['name', 'Ada']);
  });

  it('edits elements of a list where they stand, and refuses when the list has changed', async () => {
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
    await eventually(async () => expect(await kv('LRANGE', 'tasks', 0, -1)).to.deep.equal(['a', 'bb', 'd']));
    await kv('LPUSH', 'tasks', 'new');
    await edit(/^0 a/, 'x');
    await page.getByText('The list has changed meanwhile').waitFor();
    expect(await kv('LRANGE', 'tasks', 0, -1)).to.deep.equal(['new', 'a', 'bb', 'd']);
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
    expect(await kv('SISMEMBER', 'tags', 'red')).to.equal(0);
    await page.goto(`${browser.url}/console/databases/${id}?tab=data&key=board`);
    await page.getByRole('row', { name: /ada/ }).getByRole('button', { name: 'Edit' }).click();
    await page.getByRole('dialog').getByLabel('Score').fill('7.25');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await eventually(async () => expect(await kv('ZSCORE', 'board', 'ada')).to.equal('7.25'));
    await page.getByRole('button', { name: 'Highest first' }).click();
    await page.getByRole('row', { name: /bob/ }).waitFor();
  });

  it('pages through a large collection, and filters it', async () => {
    for (let at = 0; at < 2_000; at += 500) {
      await kv('HSET', 'wide', ...Array.from({ length: 500 }, (_, one) => [`f${at + one}`, 'v']).flat());
    }
    const { page } = await personAt('&key=wide');
    await page.getByText(/^1\d\d on this page/).waitFor();
    const first = await page.getByRole('row').nth(1).textContent();
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually(async () => expect(await page.getByRole('row').nth(1).textContent()).to.not.equal(first));
    await page.getByLabel('Pattern of fields').fill('f1999');
    await page.keyboard.press('Enter');
    await eventually(async () => {
      const next = page.getByRole('button', { name: 'Next' });
      if ((await page.getByRole('row', { name: /^f1999/ }).count()) === 0 && (await next.isEnabled()))
        await next.click();
      expect(await page.getByRole('row', { name: /^f1999/ }).count()).to.equal(1);
    });
  });

  it('shows a stream, adds to it, and tells of its groups', async () => {
    const { page } = await personAt('&key=events');
    await page.getByText('order', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Add an entry' }).click();
    await page.getByRole('dialog').getByLabel('Field 1').fill('order');
    await page.getByRole('dialog').getByLabel('Value 1').fill('99');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await eventually(async () => expect(await kv('XLEN', 'events')).to.equal(4));
    await page.getByRole('button', { name: 'Groups' }).click();
    await page
      .getByRole('row', { name: /billing 1 2 2/ })
      .getByRole('button', { name: 'Readers' })
      .click();
    await page
      .getByRole('row', { name: /worker/ })
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Acknowledge' }).first().click();
    await page.getByRole('row', { name: /billing 1 1 2/ }).waitFor();
    await page.getByLabel('New group').fill('mailing');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('row', { name: /^mailing/ }).waitFor();
  });

  it('shows a JSON document as a tree with all its digits, and edits parts of it', async () => {
    const { page } = await personAt('&key=doc');
    await page.getByText('12345678901234567890').waitFor();
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByRole('dialog').getByLabel('JSON').fill('"Shop"');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('"Shop"').waitFor();
    await page.getByRole('button', { name: 'Add to items' }).click();
    await page.getByRole('dialog').getByLabel('JSON').fill('{"b":2}');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
    await eventually(async () => expect(await kv('JSON.GET', 'doc', '$.items')).to.equal('[[{"a":1},{"b":2}]]'));
    await page.getByRole('button', { name: 'Take out big' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it out' }).click();
    await eventually(async () => expect(await kv('JSON.TYPE', 'doc', '$.big')).to.deep.equal([]));
  });

  it('renames, copies, and sets when a key expires', async () => {
    await kv('SET', 'one', '1');
    const { page } = await personAt('&key=one');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('two');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'two' }).waitFor();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByLabel('Name of the copy').fill('board');
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
    await page.getByText('There is a key of that name already.').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Expiry' }).click();
    await page.getByRole('spinbutton', { name: 'Seconds' }).fill('300');
    await page.getByRole('button', { name: 'Set' }).click();
    await page.getByText(/expires in/).waitFor();
    expect(await kv('TTL', 'two')).to.be.within(290, 300);
    await page.getByRole('button', { name: 'Expiry' }).click();
    await page.getByLabel('It expires').selectOption('never');
    await page.getByRole('button', { name: 'Set' }).click();
    await eventually(async () => expect(await kv('TTL', 'two')).to.equal(-1));
  });

  it('deletes keys after a while, unless that is taken back', async () => {
    for (const name of ['old:1', 'old:2', 'old:3']) await kv('SET', name, 'x');
    const { page } = await personAt('&match=old:*');
    for (const name of ['old:1', 'old:2']) await page.getByLabel(`Choose ${name}`).check();
    await page.getByRole('button', { name: 'Delete them' }).click();
    await page.getByRole('link', { name: 'old:1' }).waitFor({ state: 'detached' });
    expect(await kv('EXISTS', 'old:1')).to.equal(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'old:1' }).waitFor();
    await page.getByRole('link', { name: 'old:3' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await eventually(async () => expect(await kv('EXISTS', 'old:3')).to.equal(0));
    expect(await kv('EXISTS', 'old:1', 'old:2')).to.equal(2);
  });

  it('shows hostile names and values as text, and bytes as what they are', async () => {
    await kv('SET', HOSTILE, HOSTILE);
    await kv('SET', RTL, RTL);
    await kv('EVAL', "return redis.call('SET', KEYS[1] .. string.char(255), string.char(0, 254) .. 'x')", 1, 'bytes');
    const { page } = await personAt('&view=list');
    await page.getByRole('link', { name: HOSTILE }).click();
    await eventually(async () => expect(await page.getByLabel(/^Value, /).inputValue()).to.equal(HOSTILE));
    await page.getByRole('link', { name: RTL }).click();
    await eventually(async () => expect(await page.getByLabel(/^Value, /).inputValue()).to.equal(RTL));
    await page.getByRole('link', { name: 'bytes\\xff' }).click();
    await eventually(async () => expect(await page.getByLabel(/^Value, /).inputValue()).to.equal('00 fe 78'));
    await page.getByLabel(/^Value, /).fill('01 fd');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const read = "return redis.call('GET', KEYS[1] .. string.char(255)) == string.char(1, 253)";
    expect(await kv('EVAL', read, 1, 'bytes')).to.equal(1);
    expect(await page.locator('img[src=x]').count()).to.equal(0);
  });

  it('shows a read-only key values, also of names that are no text, and no way to change them', async () => {
    await kv('EVAL', "return redis.call('SET', KEYS[1] .. string.char(128), 'seen')", 1, 'raw');
    const { page } = await personAt('&view=list', await browser.readOnlyKey('data'));
    await page.getByRole('link', { name: 'raw\\x80' }).click();
    await eventually(async () => expect(await page.getByLabel(/^Value, /).inputValue()).to.equal('seen'));
    await page.getByRole('link', { name: 'doc', exact: true }).click();
    await page.getByRole('button', { name: 'Document' }).waitFor();
    for (const name of ['New key', 'Rename', 'Expiry', 'Delete', 'Save', 'Add', 'Edit title']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).to.equal(0);
    }
    expect(await page.getByRole('checkbox').count()).to.equal(0);
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
  ['JSON.SET', 'doc', '$', '{"title":"Catalog","big":12345678901234567890,"items":[{"a":1}]}'],
];
