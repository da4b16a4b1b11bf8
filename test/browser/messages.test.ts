/** The list of messages: its columns, filters as chips and under names, and the drawer with its keys. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { VIEWS, type View } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';

const LARGE: View = { width: 1920, scheme: 'light' };

describe('console: the list of messages', function () {
  this.timeout(180_000);
  const stand = new QueueStand();
  let failedId = '';

  before(async () => {
    await stand.start();
    await stand.client.publish({ url: stand.sink.url('/seen'), body: 'hello', label: 'seen' });
    await stand.client.publish({ url: stand.sink.url('/later'), body: '{\n  "order": 7\n}', delay: '5h' });
    [failedId = ''] = await stand.fail(1, 'failed');
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });
  const drawer = (page: Page) => page.getByRole('region', { name: /^Message msg_/ });
  const list = async (page: Page, query = '') => {
    await page.goto(`${stand.url}/console/queue${query}`);
    await page.locator('tbody tr').first().waitFor();
  };
  const filter = async (page: Page, label: string, value: string) => {
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const field = page.locator('.filter-fields').getByLabel(label, { exact: true });
    await field.fill(value);
    await field.press('Enter');
    await field.press('Escape');
  };

  for (const view of [...VIEWS, LARGE]) {
    it(`fits and is accessible with the drawer and the filters open at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.person(view);
      const { page } = person;
      await list(page, '?label=failed');
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      expect(await person.inaccessible(), 'filters').to.deep.equal([]);
      expect(await person.isTooWide(), 'filters').to.equal(false);
      await page.keyboard.press('Escape');
      await row(page, '/fails').locator('a.message-name').click();
      await drawer(page).getByText('Put into the dead letters').waitFor();
      expect(await person.inaccessible(), 'drawer').to.deep.equal([]);
      expect(await person.isTooWide(), 'drawer').to.equal(false);
    });
  }

  it('shows attempts, duration, next try and the beginning of the body in a row', async () => {
    const { page } = await stand.person();
    const busy = { status: 500, body: 'busy' };
    const url = stand.sink.answer(stand.sink.path('dots'), busy, busy, { status: 200 });
    await stand.client.publish({ url, body: 'three tries', retries: 4, retryDelay: '10' });
    await list(page);
    const tried = row(page, '/dots');
    await tried.getByText('delivered').waitFor();
    await tried.getByRole('img', { name: '3 attempts of 5 at most' }).waitFor();
    expect(
      await tried.locator('.attempt-dots:visible i').evaluateAll((dots) => dots.map((dot) => dot.className)),
    ).to.deep.equal(['failed', 'failed', 'delivered']);
    expect(await tried.textContent())
      .to.include('three tries')
      .and.to.match(/\d m?s/);
    const later = (await row(page, '/later').textContent()) ?? '';
    expect(later)
      .to.include('{ "order": 7 }')
      .and.to.match(/in (4 h \d+ min|5 h)/);
  });

  it('shows each filter as a chip that removes it, with the filters in the address', async () => {
    const { page } = await stand.person();
    await list(page);
    await filter(page, 'Label', 'seen');
    await eventually(async () => expect(await page.locator('tbody tr').count()).to.equal(1));
    await row(page, '/seen').waitFor();
    expect(page.url()).to.match(/[?&]label=seen/);
    await page.getByRole('link', { name: /^Failed/ }).click();
    await page.getByText('No message meets these filters').waitFor();
    await page.getByRole('button', { name: 'Remove the filter Label: seen' }).click();
    await row(page, '/fails').getByText('500').waitFor();
    expect(page.url()).to.not.include('label=');
    await filter(page, 'Status', '404');
    await page.getByText('No message meets these filters').waitFor();
    await page.getByRole('button', { name: 'Remove the filter Status: 404' }).click();
    await row(page, '/fails').waitFor();
  });

  it('keeps filters under a name in the browser, and removes them', async () => {
    const { page } = await stand.person();
    await list(page, '?state=failed&label=failed');
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    await page.getByLabel('Name of the filter').fill('broken things');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'broken things', exact: true }).waitFor();
    await list(page);
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    await page.getByRole('link', { name: 'broken things' }).click();
    await eventually(() => expect(page.url()).to.include('state=failed').and.include('label=failed'));
    await page.getByRole('button', { name: 'broken things', exact: true }).click();
    await page.getByRole('button', { name: 'Remove the saved filter broken things' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Saved', exact: true }).click();
    await page.getByLabel('Name of the filter').waitFor();
    expect(await page.getByRole('link', { name: 'broken things' }).count()).to.equal(0);
  });

  it('opens the story of a message in a drawer, with the open message in the address', async () => {
    const { page } = await stand.person();
    await list(page, '?label=seen');
    await row(page, '/seen').locator('a.message-name').click();
    await drawer(page).getByText('Delivered', { exact: true }).waitFor();
    const address = page.url();
    expect(address).to.include('open=msg_').and.include('label=seen');
    await page.goto(address);
    await drawer(page).getByRole('link', { name: 'Own page' }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(page.url()).to.include('/console/messages/msg_');
  });

  it('goes through the messages with j and k, opens one with Enter and closes it with Escape', async () => {
    const { page } = await stand.person();
    await list(page);
    const ids = await page
      .locator('a.message-name')
      .evaluateAll((links) => links.map((link) => link.title.split('\n')[0]));
    const opened = async (id: string | undefined) => page.getByRole('region', { name: `Message ${id}` }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await opened(ids[1]);
    expect(await drawer(page).locator('.key-hints').textContent())
      .to.include('j next')
      .and.include('Esc close');
    await page.keyboard.press('?');
    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await shortcuts.getByText('On this page: previous').waitFor();
    await shortcuts.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('k');
    await opened(ids[0]);
    await page.keyboard.press('k');
    await opened(ids[0]);
    await page.keyboard.press('j');
    await opened(ids[1]);
    await page.keyboard.press('Escape');
    await drawer(page).waitFor({ state: 'detached' });
    expect(await page.locator('tr[aria-current] a.message-name').getAttribute('title')).to.include(ids[1]);
    expect(page.url()).to.not.include('open=');
  });

  it('retries a failed message with R, and publishes a delivered one again after a question', async () => {
    const { page } = await stand.person();
    const path = stand.sink.path('again');
    const { messageId } = await stand.client.publish({ url: stand.sink.url(path), body: '{"n":1}', label: 'twice' });
    await stand.sink.arrived(path, 1);
    await list(page, `?open=${messageId}`);
    await drawer(page).getByText('Delivered', { exact: true }).waitFor();
    await page.keyboard.press('Shift+R');
    await page.getByRole('dialog').getByRole('button', { name: 'Publish again' }).click();
    const [first, second] = await stand.sink.arrived(path, 2);
    expect(second?.body).to.equal(first?.body);
    await eventually(() => expect(page.url()).to.include('open=msg_').and.not.include(messageId));
    await list(page, `?state=failed&open=${failedId}`);
    await drawer(page).getByRole('button', { name: 'Retry' }).waitFor();
    await page.keyboard.press('r');
    await page.getByText('It is sent again as a new message.').waitFor();
    await eventually(() => expect(page.url()).to.not.include(failedId));
  });

  it('has no key for changes with a read-only key, and none while a text is typed', async () => {
    const { page } = await stand.person(undefined, await stand.readOnlyKey('reads'));
    const [id] = await stand.fail(1, 'only-read');
    await list(page, `?open=${id}`);
    await drawer(page).getByText('Put into the dead letters').waitFor();
    expect(await drawer(page).locator('.key-hints').textContent()).to.not.include('retry');
    expect(await drawer(page).getByRole('button', { name: 'Retry' }).count()).to.equal(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.keyboard.type('jjj');
    expect(await page.locator('tr[aria-current] a.message-name').getAttribute('title')).to.include(id);
  });
});
