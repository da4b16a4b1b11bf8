/** The data browser: finding, creating, renaming and deleting keys of every type, and keys with hostile names. */
import { expect } from 'chai';
import { ConsoleBrowser } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const HOSTILE = '<img src=x onerror=alert(1)>';
const NAMES_OF_PARTS: Readonly<Record<string, string>> = {
  field: 'Field',
  '1.5': 'Score',
  '7': 'Index',
  '3': 'Dimension',
};
const RTL = '\u05e9\u05dc\u05d5\u05dd \u202eevil';

describe('console: the data of a database', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let id = '';

  before(async () => {
    id = await browser.firstDatabase();
    for (const words of FIRST_KEYS) await browser.kv(...words);
  });

  const personAt = (words: string, key?: string) => browser.personAt(`/console/databases/${id}?tab=data${words}`, key);

  it('shows keys as folders, and filters them by pattern and type', async () => {
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

  it('creates a key of each type, and opens it', async () => {
    const { page } = await personAt('');
    for (const [type, label, part] of [
      ['string', 'Value', ''],
      ['hash', 'Value', 'field'],
      ['list', 'First element', ''],
      ['set', 'First member', ''],
      ['zset', 'Member', '1.5'],
      ['stream', 'Value', 'field'],
      ['array', 'Value', '7'],
      ['vector', 'Metric', '3'],
      ['ReJSON-RL', 'Document', ''],
    ] as const) {
      await page.getByRole('button', { name: 'New key' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill(`made:${type}`);
      await dialog.getByLabel('Type').selectOption(type);
      if (part !== '') await dialog.getByLabel(NAMES_OF_PARTS[part] ?? '', { exact: true }).fill(part);
      await dialog.getByLabel(label, { exact: true }).fill(type === 'vector' ? 'COSINE' : '{"a":1}');
      await dialog.getByLabel('Expires after seconds').fill('1000');
      await dialog.getByRole('button', { name: 'Make it' }).click();
      await page.getByRole('heading', { name: `made:${type}` }).waitFor();
      expect(await browser.kv('TYPE', `made:${type}`)).to.equal(type);
      expect(await browser.kv('TTL', `made:${type}`)).to.be.within(900, 1_000);
    }
  });

  it('renames and copies a key, and sets its expiry', async () => {
    await browser.kv('SET', 'one', '1');
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
    expect(await browser.kv('TTL', 'two')).to.be.within(290, 300);
    await page.getByRole('button', { name: 'Expiry' }).click();
    await page.getByLabel('It expires').selectOption('never');
    await page.getByRole('button', { name: 'Set' }).click();
    await eventually(async () => expect(await browser.kv('TTL', 'two')).to.equal(-1));
  });

  it('deletes keys after a delay, unless the deletion is undone', async () => {
    for (const name of ['old:1', 'old:2', 'old:3']) await browser.kv('SET', name, 'x');
    const { page } = await personAt('&match=old:*');
    for (const name of ['old:1', 'old:2']) await page.getByLabel(`Choose ${name}`).check();
    await page.getByRole('button', { name: 'Delete them' }).click();
    await page.getByRole('link', { name: 'old:1' }).waitFor({ state: 'detached' });
    expect(await browser.kv('EXISTS', 'old:1')).to.equal(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'old:1' }).waitFor();
    await page.getByRole('link', { name: 'old:3' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await eventually(async () => expect(await browser.kv('EXISTS', 'old:3')).to.equal(0));
    expect(await browser.kv('EXISTS', 'old:1', 'old:2')).to.equal(2);
  });

  it('shows hostile names and values as text, and binary values as hex', async () => {
    await browser.kv('SET', HOSTILE, HOSTILE);
    await browser.kv('SET', RTL, RTL);
    await browser.kv(
      'EVAL',
      "return redis.call('SET', KEYS[1] .. string.char(255), string.char(0, 254) .. 'x')",
      1,
      'bytes',
    );
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
    expect(await browser.kv('EVAL', read, 1, 'bytes')).to.equal(1);
    expect(await page.locator('img[src=x]').count()).to.equal(0);
  });

  it('shows values to a read-only key, also of binary names, without buttons for changes', async () => {
    await browser.kv('EVAL', "return redis.call('SET', KEYS[1] .. string.char(128), 'seen')", 1, 'raw');
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
