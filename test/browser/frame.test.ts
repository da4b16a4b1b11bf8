/** The frame of every page: signing in and out, the menu, the palette and themes. */
import { expect } from 'chai';
import { ConsoleBrowser, EMAIL, KEY, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

describe('console: the frame', function () {
  this.timeout(60_000);
  const browser = ConsoleBrowser.ofTheseTests();

  it('asks for credentials, shows an error for a wrong key, and then opens the requested page', async () => {
    const visitor = (await browser.visitor()).expects(/^401 /);
    await visitor.open('/console/databases');
    await visitor.page.getByLabel('E-mail').fill(EMAIL);
    await visitor.page.getByLabel('Management key').fill('mrk_wrong');
    await visitor.page.getByRole('button', { name: 'Sign in' }).click();
    await visitor.page.getByRole('alert').waitFor();
    expect(await visitor.page.getByRole('alert').textContent()).to.include('No key of this e-mail');
    await visitor.signIn(EMAIL, KEY);
    expect(await visitor.heading().textContent()).to.equal('Databases');
  });

  it('leads a browser from the address of the port to the console, and other clients not', async () => {
    const visitor = await browser.visitor();
    await visitor.open('/');
    await visitor.page.getByLabel('E-mail').waitFor();
    expect(new URL(visitor.page.url()).pathname).to.match(/^\/console\/?$/);
    const other = await fetch(`${browser.url}/`, { redirect: 'manual', headers: { accept: 'application/json' } });
    expect(other.status).to.be.oneOf([401, 404]);
  });

  for (const view of VIEWS) {
    it(`is accessible and fits at ${view.width} px, ${view.scheme}`, async () => {
      const visitor = await browser.visitor(view);
      await visitor.open('/console/');
      await visitor.page.getByLabel('E-mail').waitFor();
      expect(await visitor.inaccessible()).to.deep.equal([]);
      await visitor.signIn(EMAIL, KEY);
      expect(await visitor.inaccessible()).to.deep.equal([]);
      expect(await visitor.isTooWide()).to.equal(false);
      if (view.width === 390) await visitor.page.getByRole('button', { name: 'Menu' }).click();
      await visitor.page.getByRole('link', { name: 'Databases', exact: true }).click();
      await eventually(async () => expect(await visitor.heading().textContent()).to.equal('Databases'));
    });
  }

  it('opens a page with the keyboard only', async () => {
    const person = await browser.person();
    const { page } = person;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('team');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await person.heading().textContent()).to.equal('Team and keys'));
  });

  it('keeps the chosen theme', async () => {
    const { page } = await browser.person();
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Light' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).to.equal('dark');
  });

  it('signs out, and the session is refused afterwards', async () => {
    // What the page had asked for by then is answered as what follows.
    const person = (await browser.person()).expects(/^401 /);
    const cookies = await person.page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).to.deep.equal([[true, 'Strict']]);
    expect(await person.page.evaluate('document.cookie')).to.equal('');
    await person.page.getByRole('button', { name: 'Sign out' }).click();
    await person.page.getByLabel('E-mail').waitFor();
    const [{ name, value } = { name: '', value: '' }] = cookies;
    const again = await fetch(`${browser.url}/v2/kv/databases`, { headers: { cookie: `${name}=${value}` } });
    expect(again.status).to.equal(401);
  });

  it('asks for credentials when the session is over, and then returns to the page', async () => {
    const key = await browser.readOnlyKey('ends');
    const person = (await browser.person(undefined, key)).expects(/^401 /);
    await person.open('/console/team');
    await person.heading().waitFor();
    await browser.manage('DELETE', '/v2/apikey/ends');
    await person.open('/console/databases');
    await person.signIn(EMAIL, KEY);
    expect(await person.heading().textContent()).to.equal('Databases');
  });

  it("refuses a change without the session's header", async () => {
    const person = (await browser.person()).expects(/^403 /);
    const status = await person.page.evaluate(async () => {
      const body = JSON.stringify({ database_name: 'forged', primary_region: 'eu-west-1' });
      return (await fetch('/v2/kv/database', { method: 'POST', body })).status;
    });
    expect(status).to.equal(403);
  });

  it('marks a session with a read-only key', async () => {
    const person = await browser.person(undefined, await browser.readOnlyKey('looks'));
    expect(await person.page.getByText('read-only key').count()).to.equal(1);
  });
});
