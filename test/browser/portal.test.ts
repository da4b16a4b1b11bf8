/** The portal as a customer sees it on a phone: endpoints, secrets, test events, attempts, replays, and its end. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { ConsolePage, View } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { QUEUE_TOKEN } from '../support/queue-process.js';

const PARENT = 'https://shop.example';
const LOOK = {
  title: 'Shop webhooks',
  accent: '#5b21b6',
  accentDark: '#c4b5fd',
  logo: `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64')}`,
  words: { add: 'New address' },
};
const VIEWS: readonly View[] = [
  { width: 390, scheme: 'light' },
  { width: 390, scheme: 'dark' },
];

describe('console: the portal', function () {
  this.timeout(120_000);
  const stand = new QueueStand();
  let app: string;

  before(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'portal-')), 'look.json');
    writeFileSync(file, JSON.stringify(LOOK));
    await stand.start({ MILLRACE_PORTAL_FILE: file, MILLRACE_PORTAL_FRAME_ANCESTORS: PARENT });
    const type = { name: 'order.paid', description: 'An order was paid.', examples: [{ total: 7 }] };
    await stand.call('POST', '/v2/event-types', type);
  });
  beforeEach(async () => {
    ({ id: app } = (await stand.call('POST', '/v2/apps', { name: 'Customer Ltd' })) as { id: string });
  });
  afterEach(() => stand.allIsWell());
  after(() => stand.end());

  const opened = async (view: View, members: object = {}): Promise<ConsolePage> => {
    const { url } = (await stand.call('POST', `/v2/apps/${app}/portal`, members)) as { url: string };
    // The page is on the port of the queue.
    const visitor = (await stand.visitor(view)).expects(/^elsewhere: http:\/\/(127\.0\.0\.1|localhost):/);
    await visitor.page.goto(url);
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    return visitor;
  };

  for (const view of VIEWS) {
    it(`is used at ${view.width} px in ${view.scheme} colours, in the operator's words`, async () => {
      const visitor = (await opened(view)).expects(/^400 /);
      const { page } = visitor;
      const button = (name: string) => page.getByRole('button', { name, exact: true });
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Shop webhooks');
      expect(await page.evaluate('location.hash')).to.equal('');
      await button('New address').click();
      await page.getByRole('textbox', { name: 'Address' }).fill('http://169.254.169.254/latest');
      await button('Save').click();
      await page.getByRole('alert').getByText('invalid endpoint url').waitFor();
      const path = stand.sink.path('portal');
      await page.getByRole('textbox', { name: 'Address' }).fill(stand.sink.url(path));
      await page.getByLabel('order.paid').check();
      expect(await visitor.inaccessible()).to.deep.equal([]);
      await button('Save').click();
      await button('Show secrets').click();
      const key = await page.locator('code', { hasText: 'whsec_' }).textContent();
      await button('Send test').click();
      const { headers, body } = await stand.sink.call(path);
      expect(new Webhook(key ?? '').verify(body, headers as Record<string, string>)).to.deep.equal({ total: 7 });
      expect(await visitor.inaccessible()).to.deep.equal([]);
      expect(await visitor.isTooWide()).to.equal(false);
      await button('Messages').click();
      await page.getByText('DELIVERED').first().waitFor();
      await page.getByText('Payload').first().click();
      await page.getByText('{"total":7}').waitFor();
      expect(await visitor.inaccessible()).to.deep.equal([]);
      await button('Send again').click();
      await stand.sink.arrived(path, 2);
      await button('Events').click();
      await page.getByText('An order was paid.').waitFor();
      expect(await visitor.isTooWide()).to.equal(false);
      await button('Endpoints').click();
      await button('Disable').click();
      await button('Enable').waitFor();
    });
  }

  it('a reader has no buttons that change, and an ended or forged link shows that it has ended', async () => {
    await stand.call('POST', `/v2/apps/${app}/endpoints`, { url: stand.sink.url(stand.sink.path('read')) });
    const reader = await opened(VIEWS[0] as View, { readOnly: true });
    await reader.page.getByText('/read').first().waitFor();
    expect(await reader.page.getByRole('button', { name: 'New address' }).count()).to.equal(0);
    const other = (await stand.visitor(VIEWS[1])).expects(/^elsewhere: /, /^401 /);
    await other.page.goto(`${stand.queueUrl}/portal/${app}#mpt_forged`);
    await other.page.getByText('This link is no longer valid').waitFor();
  });

  it('GET /portal allows frames only to the origins of the setting', async () => {
    const page = await fetch(`${stand.queueUrl}/portal/${app}`);
    expect(page.headers.get('content-security-policy')).to.include(`frame-ancestors ${PARENT}`);
    expect((await fetch(`${stand.queueUrl}/portal/assets/none.js`)).status).to.equal(404);
    const headers = { authorization: `Bearer ${QUEUE_TOKEN}` };
    const shown = (await (await fetch(`${stand.queueUrl}/v2/apps/${app}/portal`, { headers })).json()) as object;
    expect(shown).to.deep.include({ look: LOOK, application: { id: app, name: 'Customer Ltd' } });
  });
});
