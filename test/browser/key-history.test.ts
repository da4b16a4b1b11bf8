/** The history of a key in the data browser: versions, their line differences, and the way back to one. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ConsoleBrowser, EMAIL, VIEWS } from '../support/browser/console-browser.js';

describe('console: the history of a key', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();
  let address = '';

  before(async () => {
    address = `/console/databases/${await browser.firstDatabase()}?tab=data&part=history`;
    await browser.kv('SET', 'settings', '{"colour":"red","size":1}');
    await browser.kv('SET', 'settings', '{"colour":"blue","size":1,"new":true}');
    await browser.kv('HSET', 'user', 'name', 'Ada', 'town', 'London');
    await browser.kv('HSET', 'user', 'town', 'Paris');
    await browser.kv('SET', 'gone', 'still known');
    await browser.kv('DEL', 'gone');
  });

  const versions = (page: Page) => page.getByRole('region', { name: 'Versions' }).locator('tbody tr');
  const difference = (page: Page) => page.getByRole('region', { name: 'Differences of the versions' });
  const opened = async (page: Page, key: string) => {
    await page.goto(`${browser.url}${address}&key=${key}`);
    await versions(page).first().waitFor();
  };
  const lines = async (page: Page, kind: string) =>
    (await difference(page).locator(`.${kind}`).allTextContents()).sort();

  for (const view of VIEWS) {
    it(`fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      await opened(person.page, 'settings');
      await difference(person.page).waitFor();
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('lists versions with time, command and size, and shows the lines that the last one changed', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/databases/${await browser.firstDatabase()}?tab=data&key=settings`);
    await page.getByRole('button', { name: 'History' }).click();
    await versions(page).nth(1).waitFor();
    expect(page.url()).to.include('part=history');
    expect(await versions(page).count()).to.equal(2);
    expect(await versions(page).first().textContent())
      .to.include('SET')
      .and.include('37 B');
    await difference(page).waitFor();
    expect(await lines(page, 'removed')).to.deep.equal(['-  "colour": "red",', '-  "size": 1']);
    expect(await lines(page, 'added')).to.deep.equal(['+  "colour": "blue",', '+  "new": true', '+  "size": 1,']);
  });

  it('compares versions of a hash, which a replay rebuilds', async () => {
    const { page } = await browser.person();
    await opened(page, 'user');
    await difference(page).waitFor();
    expect(await lines(page, 'removed')).to.deep.equal(['-town: London']);
    expect(await lines(page, 'added')).to.deep.equal(['+town: Paris']);
    await versions(page).nth(1).getByRole('button').click();
    await page.getByText('The key did not exist before.').waitFor();
    expect(await lines(page, 'added')).to.deep.equal(['+name: Ada', '+town: London']);
  });

  it('restores a version after a question, and names the user who did', async () => {
    const { page } = await browser.person();
    await opened(page, 'user');
    await versions(page).nth(1).getByRole('button').click();
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await versions(page).nth(2).waitFor();
    expect(await browser.kv('HGETALL', 'user')).to.deep.equal(['name', 'Ada', 'town', 'London']);
    expect(await versions(page).first().textContent()).to.include(EMAIL);
    expect(await versions(page).nth(1).textContent()).to.include('a client');
  });

  it('has the versions of a deleted key, and brings one back', async () => {
    const { page } = await browser.person();
    await opened(page, 'gone');
    await versions(page).first().getByText('deleted').waitFor();
    await versions(page).nth(1).getByRole('button').click();
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await versions(page).nth(2).waitFor();
    expect(await browser.kv('GET', 'gone')).to.equal('still known');
  });

  it('shows the history without a way back to a read-only key', async () => {
    const { page } = await browser.person(undefined, await browser.readOnlyKey('reads history'));
    await opened(page, 'settings');
    await versions(page).nth(1).getByRole('button').click();
    await difference(page).waitFor();
    expect(await page.getByRole('button', { name: 'Restore this version' }).count()).to.equal(0);
  });
});
