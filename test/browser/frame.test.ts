/** The frame of every page: signing in and out, also with an identity provider, the menu, the palette and themes. */
import { expect } from 'chai';
import { ConsoleBrowser, EMAIL, KEY, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { IdentityProviderStand } from '../support/identity-provider.js';

describe('console: the frame', function () {
  this.timeout(180_000);
  const browser = new ConsoleBrowser();
  const provider = new IdentityProviderStand();

  before(async () => {
    // The provider needs the console's address before the process starts.
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    await provider.start([`${origin}/console/api/sign-in/sso/callback`]);
    provider.people.set('ada', { email: 'ada@b.example', groups: ['ops'] });
    provider.people.set('bob', { email: 'bob@b.example', groups: ['others'] });
    await browser.start({
      MILLRACE_MGMT_PORT: String(port),
      MILLRACE_PUBLIC_URL_MGMT: origin,
      MILLRACE_SIGN_IN_PROVIDERS: provider.setting([{ group: 'ops', role: 'admin' }]),
    });
  });
  afterEach(() => browser.closePages());
  after(async () => {
    await browser.end();
    await provider.stop();
  });

  it('asks for credentials, shows an error for a wrong key, and then opens the requested page', async () => {
    const visitor = (await browser.visitor()).allowProblem(/^401 /);
    await visitor.open('/console/databases');
    await visitor.page.getByLabel('E-mail').fill(EMAIL);
    await visitor.page.getByLabel('Management key').fill('mrk_wrong');
    await visitor.page.getByRole('button', { name: 'Sign in' }).click();
    await visitor.page.getByRole('alert').waitFor();
    expect(await visitor.page.getByRole('alert').textContent()).to.include('No key of this e-mail');
    await visitor.signIn(EMAIL, KEY);
    expect(await visitor.heading().textContent()).to.equal('Databases');
  });

  /** Follows the button of the provider, and fills in its forms. */
  async function signInAtProvider(name: string, path: string) {
    // Its forms load a font from elsewhere.
    const visitor = (await browser.visitor()).allowProblem(
      new RegExp(`^elsewhere: ${provider.issuer}/`),
      /fonts\.google/,
    );
    const { page } = visitor;
    await page.route('https://**', (route) => route.abort());
    await visitor.open(path);
    await page.getByRole('link', { name: 'Sign in with Company' }).click();
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('x');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    return visitor;
  }

  it('leads through the sign-in of an identity provider to the requested page', async () => {
    const visitor = await signInAtProvider('ada', '/console/databases?find=def');
    await eventually(async () => expect(await visitor.heading().textContent()).to.equal('Databases'));
    expect(visitor.page.url()).to.equal(`${browser.url}/console/databases?find=def`);
    await visitor.page.getByText('ada@b.example').first().waitFor();
  });

  it('shows why the answer of the provider began no session, and still takes a key', async () => {
    const visitor = await signInAtProvider('bob', '/console/');
    await visitor.page.getByRole('alert').getByText('no group of yours has a role here').waitFor();
    expect(await visitor.inaccessible()).to.deep.equal([]);
    await visitor.signIn(EMAIL, KEY);
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
    const person = await browser.personAt('/console/');
    const { page } = person;
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    await page.keyboard.type('team');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await person.heading().textContent()).to.equal('Team and keys'));
  });

  it('keeps the chosen theme', async () => {
    const { page } = await browser.personAt('/console/');
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Light' }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).to.equal('dark');
  });

  it('signs out, and the session is refused afterwards', async () => {
    // A request that the page sent before is answered like the later ones.
    const person = (await browser.visitor()).allowProblem(/^401 /);
    await person.open('/console/');
    await person.signIn(EMAIL, KEY);
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
    const person = (await browser.person(undefined, key)).allowProblem(/^401 /);
    await person.open('/console/team');
    await person.heading().waitFor();
    await browser.manage('DELETE', '/v2/apikey/ends');
    await person.open('/console/databases');
    await person.signIn(EMAIL, KEY);
    expect(await person.heading().textContent()).to.equal('Databases');
  });

  it("refuses a change without the session's header", async () => {
    const person = (await browser.personAt('/console/')).allowProblem(/^403 /);
    const status = await person.page.evaluate(async () => {
      const body = JSON.stringify({ database_name: 'forged', primary_region: 'eu-west-1' });
      return (await fetch('/v2/kv/database', { method: 'POST', body })).status;
    });
    expect(status).to.equal(403);
  });

  it('marks a session with a read-only key', async () => {
    const person = await browser.personAt('/console/', await browser.readOnlyKey('looks'));
    expect(await person.page.getByText('read-only key').count()).to.equal(1);
  });
});
