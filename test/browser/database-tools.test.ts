/** The tools of a database: command line, diagnosis, backups and users. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ConsoleBrowser } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

const BYTES = '\\x00\\xff\\x80';

describe('console: tools of a database', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let id = '';

  before(async () => {
    id = await browser.firstDatabase();
  });

  const personAt = (words: string, key?: string) => browser.personAt(`/console/databases/${id}?${words}`, key);

  describe('the command line', () => {
    async function lines(key?: string) {
      const person = await personAt('tab=line', key);
      const field = person.page.getByLabel('Command', { exact: true });
      const replies = person.page.getByLabel('Replies');
      const say = async (line: string, reply: string | RegExp) => {
        await field.fill(line);
        await field.press('Enter');
        await replies.locator('pre').last().filter({ hasText: reply }).waitFor();
      };
      return { person, page: person.page, field, replies, say };
    }

    it('shows replies in the format of redis-cli', async () => {
      const { say } = await lines();
      await say('ping', /^PONG$/);
      await say('set text "a \\"word\\""', /^OK$/);
      await say('get text', /^"a \\"word\\""$/);
      await say('get nothing', /^\(nil\)$/);
      await say('incr number', /^\(integer\) 1$/);
      await say('incr text', /^\(error\) ERR value is not an int/);
      await say('rpush row a b c', /^\(integer\) 3$/);
      await say('lrange row 0 -1', /^1\) "a"\s+2\) "b"\s+3\) "c"$/);
      await say('lrange nothing 0 -1', /^\(empty array\)$/);
      await say('eval "return {1,{2,{\'x\'}}}" 0', /^1\) \(integer\) 1\s+2\) 1\) \(integer\) 2\s+2\) 1\) "x"$/);
      await say('info keyspace', /# Keyspace\s+db0:keys=\d+/);
    });

    it('accepts and shows binary values', async () => {
      const { say } = await lines();
      await say(`set bytes "${BYTES}"`, /^OK$/);
      expect(await browser.kv('STRLEN', 'bytes')).to.equal(3);
      await say('get bytes', `"${BYTES}"`);
      await say('set "open', /quote is not closed/);
    });

    it('recalls earlier lines, also after a reload, except lines with a secret', async () => {
      const { page, field, say } = await lines();
      await say('set first 1', 'OK');
      await say('acl resttoken default nothing-of-that', /error/);
      await page.reload();
      await field.press('ArrowUp');
      expect(await field.inputValue()).to.equal('set first 1');
      await field.press('ArrowDown');
      expect(await field.inputValue()).to.equal('');
    });

    it('completes commands and describes them', async () => {
      const { page, field, say } = await lines();
      await field.fill('hexpireti');
      await page.getByRole('button', { name: 'HEXPIRETIME' }).waitFor();
      await field.press('Tab');
      expect(await field.inputValue()).to.equal('HEXPIRETIME ');
      await page.getByText(/at least \d words, hash/).waitFor();
      await say('help config get', /^CONFIG GET: /);
    });

    it('queues a transaction until EXEC', async () => {
      const { say } = await lines();
      await say('multi', 'OK');
      await say('set a 1', 'QUEUED');
      await say('incr a', 'QUEUED');
      expect(await browser.kv('GET', 'a')).to.equal(null);
      await say('exec', /^1\) OK\s+2\) \(integer\) 2$/);
      await say('exec', /EXEC without MULTI/);
    });

    it('asks before a dangerous command, and refuses commands that need a connection', async () => {
      const { page, field, replies, say } = await lines();
      await browser.kv('SET', 'stays', 'here');
      await field.fill('flushall');
      await field.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      expect(await page.evaluate('document.activeElement === document.querySelector("dialog input")')).to.equal(true);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await replies.getByText('(not run)').waitFor();
      await field.fill('keys *');
      await field.press('Enter');
      await dialog.waitFor();
      expect(await page.evaluate('document.activeElement.textContent.trim()')).to.equal('Cancel');
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      expect(await browser.kv('GET', 'stays')).to.equal('here');
      await say('subscribe news', /redis-cli -h /);
      await say('monitor', /Diagnosis/);
    });

    it('cuts a reply that is too long', async () => {
      const { say } = await lines();
      await browser.kv('SET', 'long', 'x'.repeat(1_000_000));
      await say('lrange nothing 0 -1', /^\(empty array\)$/);
      await browser.kv('RPUSH', 'many', ...Array.from({ length: 5_000 }, (_, at) => `element ${at} ${'y'.repeat(40)}`));
      await say('lrange many 0 -1', /more than is drawn here$/);
    });

    it('shows an error for changes with a read-only key', async () => {
      const { person, say } = await lines(await browser.readOnlyKey('line'));
      person.allowProblem(/^403 /);
      await browser.kv('SET', 'seen', 'yes');
      await say('get seen', '"yes"');
      await say('set seen no', /^\(error\) /);
      expect(await browser.kv('GET', 'seen')).to.equal('yes');
    });
  });

  describe('diagnosis', () => {
    it('shows the INFO of the database, and its slow commands', async () => {
      await browser.kv('CONFIG', 'SET', 'slowlog-log-slower-than', 0);
      await browser.kv('SET', 'slow:<i>key</i>', '1');
      await browser.kv('CONFIG', 'SET', 'slowlog-log-slower-than', -1);
      const { page } = await personAt('tab=diagnosis');
      await page.getByRole('heading', { name: 'Keyspace' }).waitFor();
      await page.getByRole('link', { name: 'Slow commands' }).click();
      await page.getByText('SET slow:<i>key</i> 1').waitFor();
      await page.getByRole('button', { name: 'Empty it' }).click();
      await page.getByText('No slow commands').waitFor();
    });

    it('shows running commands and connected clients', async () => {
      const person = await personAt('tab=diagnosis&view=monitor');
      const { page } = person;
      await page.getByRole('button', { name: 'Watch' }).click();
      await page.getByText('live', { exact: true }).waitFor();
      await browser.kv('SET', 'watched', '<script>x</script>');
      await page.getByText('SET watched <script>x</script>').waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('link', { name: 'Connections' }).click();
      await page.getByText('No connections').waitFor();
    });
  });

  it('creates, downloads, restores and deletes a backup', async () => {
    await browser.kv('SET', 'kept', 'before');
    const { page } = await personAt('tab=backups');
    await page.getByLabel('Name of a new backup').fill('a <moment>');
    await page.getByRole('button', { name: 'Keep a backup' }).click();
    await page.getByRole('row', { name: /a <moment>.*completed/ }).waitFor();
    const fetched = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect(await readFile(await (await fetched).path(), 'latin1')).to.include('$4\r\nkept\r\n$6\r\nbefore\r\n');
    await browser.kv('SET', 'kept', 'after');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByLabel(/^Type/).fill('default');
    await page.getByRole('button', { name: 'Put it back' }).click();
    await eventually(async () => expect(await browser.kv('GET', 'kept')).to.equal('before'));
    await page.getByRole('row').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no backup yet').waitFor();
  });

  it('makes a branch, shows its differences, merges them, undoes them and discards it', async () => {
    await browser.kv('SET', 'b:1', 'before');
    const { page } = await personAt('tab=branches');
    await page.getByLabel('Name of a new branch').fill('rehearsal');
    await page.getByRole('button', { name: 'Make a branch' }).click();
    const row = page.getByRole('row', { name: /^rehearsal/ });
    await row.getByRole('link').click();
    await page.getByRole('link', { name: 'Command line' }).click();
    await page.getByLabel('Command', { exact: true }).fill('set b:1 after');
    await page.getByLabel('Command', { exact: true }).press('Enter');
    await page.getByLabel('Replies').locator('pre').filter({ hasText: 'OK' }).waitFor();
    await page.goto(`${new URL(page.url()).origin}/console/databases/${id}?tab=branches`);
    await row.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('row', { name: /b:1.*changed/ }).waitFor();
    expect(await browser.kv('GET', 'b:1')).to.equal('before');
    await page.getByRole('button', { name: 'Merge these keys' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click();
    await eventually(async () => expect(await browser.kv('GET', 'b:1')).to.equal('after'));
    await row.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('There is no branch').waitFor();

    await page.getByLabel('User, address or token').fill('default');
    await page.getByLabel('To', { exact: true }).fill(new Date().toISOString());
    await page.getByLabel('Only keys like').fill('b:*');
    await page.getByRole('button', { name: 'Show the keys' }).click();
    await page.getByText(/conflict/).waitFor();
    expect(await browser.kv('GET', 'b:1')).to.equal('after');
  });

  it('creates a user with rules, gives it a token, changes and deletes it', async () => {
    await browser.kv('SET', 'user:1', 'Ada');
    const { page } = await personAt('tab=users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Name', { exact: true }).fill('reader');
    await page.getByRole('textbox', { name: 'Rules' }).fill('%R~user:* resetchannels +@read (~log:* +xadd)');
    await page.getByRole('button', { name: 'Make it' }).click();
    const row = page.getByRole('row', { name: /^reader/ });
    await row.getByRole('button', { name: 'Token' }).click();
    await page.getByRole('button', { name: 'Make a new token' }).click();
    const token = (await page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
    const ask = (path: string) =>
      fetch(browser.process.kvUrl + path, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await ask('/get/user:1')).json()).to.deep.equal({ result: 'Ada' });
    expect(await (await ask('/get/kept')).json())
      .to.have.property('error')
      .that.includes('NOPERM');
    await page.getByRole('button', { name: 'Close' }).click();
    await row.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByRole('textbox', { name: 'Rules' }).inputValue()).to.include('(~log:*');
    await page.getByLabel('May sign in').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('off', { exact: true }).waitFor();
    expect((await ask('/get/user:1')).status).to.equal(401);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it("shows the error in a user's rules", async () => {
    const { page } = await personAt('tab=users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Name', { exact: true }).fill('wrong');
    await page.getByRole('textbox', { name: 'Rules' }).fill('+@nothing-of-that');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText(/Error in ACL SETUSER/).waitFor();
  });
});
