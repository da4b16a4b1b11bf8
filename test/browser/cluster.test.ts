/** The cluster page: its parts, and its updates without a reload. */
import { expect } from 'chai';
import { ConsoleBrowser, VIEWS } from '../support/browser/console-browser.js';
import { eventually } from '../support/eventually.js';

describe('console: the cluster page', function () {
  this.timeout(180_000);
  const browser = ConsoleBrowser.forSuite();

  for (const view of VIEWS) {
    it(`shows each part, fits and is accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await browser.person(view);
      for (const [tab, text] of [
        ['processes', 'ready'],
        ['shards', 'CONTROL'],
        ['servers', 'millrace-embedded'],
        ['streams', 'QUEUE_0'],
      ] as const) {
        await person.open(`/console/cluster?tab=${tab}`);
        await person.page.locator('table').getByText(text, { exact: true }).first().waitFor();
        expect(await person.inaccessible(), tab).to.deep.equal([]);
        expect(await person.isTooWide(), tab).to.equal(false);
      }
    });
  }

  it('updates without a reload', async () => {
    const { page } = await browser.person();
    await page.goto(`${browser.url}/console/cluster?tab=shards`);
    const position = page
      .getByRole('row', { name: /^CONTROL/ })
      .locator('td')
      .nth(4);
    await position.waitFor();
    const before = Number(await position.textContent());
    await browser.readOnlyKey('one entry more');
    await eventually(async () => expect(Number(await position.textContent())).to.be.greaterThan(before));
  });

  it('is hidden from people of other accounts', async () => {
    const team = await browser.manage('POST', '/v2/team', { team_name: 'crew', copy_cc: false });
    const { team_id } = team.json as { team_id: string };
    const made = await browser.manage('POST', '/apikey', { name: 'of the crew', team_id });
    const person = await browser.personAt('/console/', (made.json as { api_key: string }).api_key);
    expect(await person.page.getByRole('link', { name: 'Cluster' }).count()).to.equal(0);
    await person.open('/console/cluster');
    await person.page.getByText('This page is for operators of the installation').waitFor();
  });
});
