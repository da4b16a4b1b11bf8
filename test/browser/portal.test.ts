/** The portal as a customer sees it on a phone, also in a frame: endpoints, secrets, attempts, replays, and its end. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import type { ConsolePage, View } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';
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

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe('console: the portal', function () {
  this.timeout(120_000);
  const stand = new QueueStand();
  let app: string;
  let framed = '';
  /** The operator's site: its page has the portal in a frame. */
  const shop = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><html lang="en"><title>Shop</title><iframe src="${framed}"></iframe></html>`);
  });

  before(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'portal-')), 'look.json');
    writeFileSync(file, JSON.stringify(LOOK));
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve));
    const ancestors = `${PARENT},http://localhost:${portOf(shop)}`;
    await stand.start({ MILLRACE_PORTAL_FILE: file, MILLRACE_PORTAL_FRAME_ANCESTORS: ancestors });
    const type = { name: 'order.paid', description: 'An order was paid.', examples: [{ total: 7 }] };
    await stand.call('POST', '/v2/event-types', type);
  });
  beforeEach(async () => {
    ({ id: app } = (await stand.call('POST', '/v2/apps', { name: 'Customer Ltd' })) as { id: string });
  });
  afterEach(() => stand.closePages());
  after(async () => {
    await stand.end();
    shop.closeAllConnections();
    await new Promise((resolve) => shop.close(resolve));
  });

  const opened = async (view: View, members: object = {}): Promise<ConsolePage> => {
    const { url } = (await stand.call('POST', `/v2/apps/${app}/portal`, members)) as { url: string };
    // The page is on the port of the queue.
    const visitor = (await stand.visitor(view)).allowProblem(/^elsewhere: http:\/\/(127\.0\.0\.1|localhost):/);
    await visitor.page.goto(url);
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    return visitor;
  };

  for (const view of VIEWS) {
    it(`is used at ${view.width} px in ${view.scheme} colours, in the operator's words`, async () => {
      const visitor = (await opened(view)).allowProblem(/^400 /);
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
    const other = (await stand.visitor({ width: 1280, scheme: 'dark' })).allowProblem(/^elsewhere: /, /^401 /);
    await other.page.goto(`${stand.queueUrl}/portal/${app}#mpt_forged`);
    await other.page.getByText('This link is no longer valid').waitFor();
  });

  it('a stopped endpoint shows since when and why, and one button sends its missed messages; a revoked link ends', async () => {
    await stand.call('POST', '/v2/destinations/rules', { messages: 'dlq' });
    const path = stand.sink.path('gone');
    stand.sink.answer(path, { status: 410 }, { status: 200 });
    const { id } = (await stand.call('POST', `/v2/apps/${app}/endpoints`, { url: stand.sink.url(path) })) as {
      id: string;
    };
    await stand.call('POST', `/v2/apps/${app}/messages`, { eventType: 'order.paid', payload: { total: 1 } });
    const stopped = async () => {
      const shown = (await stand.call('GET', `/v2/apps/${app}/endpoints/${id}`)) as { breaker?: { state: string } };
      expect(shown.breaker?.state).to.equal('disabled');
      const messages = (await stand.call('GET', `/v2/apps/${app}/messages?state=ERROR`)) as { messages: object[] };
      expect(messages.messages).to.have.length(1);
    };
    await eventually(stopped, { timeoutMs: 30_000 });
    await stand.call('POST', `/v2/apps/${app}/messages`, { eventType: 'order.paid', payload: { total: 2 } });
    await eventually(
      async () => {
        const failed = (await stand.call('GET', `/v2/apps/${app}/messages?state=FAILED`)) as { messages: object[] };
        expect(failed.messages).to.have.length.at.least(1);
      },
      { timeoutMs: 30_000 },
    );
    const visitor = (await opened(VIEWS[0] as View)).allowProblem(/^401 /);
    const { page } = visitor;
    await page.getByText('HTTP status 410').waitFor();
    await page.getByText('Failing since').waitFor();
    expect(await visitor.inaccessible()).to.deep.equal([]);
    expect(await visitor.isTooWide()).to.equal(false);
    await page.getByRole('button', { name: 'Enable and send missed messages' }).click();
    await page.getByText(/^Sent again: [1-9]/).waitFor();
    await eventually(() => expect(stand.sink.calls(path).length).to.be.at.least(2), { timeoutMs: 30_000 });
    await page.getByText('HTTP status 410').waitFor({ state: 'detached' });
    await stand.call('POST', `/v2/apps/${app}/portal/revoke`, {});
    await page.reload();
    await page.getByText('This link is no longer valid').waitFor();
    await stand.call('DELETE', '/v2/destinations/rules');
  });

  it('a page of an allowed origin shows the portal in a frame, and a page of another origin does not', async () => {
    const visitor = (await stand.visitor(VIEWS[0])).allowProblem(/./);
    const { page } = visitor;
    const { url } = (await stand.call('POST', `/v2/apps/${app}/portal`, {})) as { url: string };
    framed = url;
    for (const host of ['localhost', '127.0.0.1']) {
      await page.goto(`http://${host}:${portOf(shop)}/`);
      const frame = await (await page.waitForSelector('iframe')).contentFrame();
      if (host === 'localhost') await frame?.getByRole('heading', { level: 1 }).waitFor();
      else await eventually(() => expect(frame?.url()).to.match(/^chrome-error:/), { timeoutMs: 30_000 });
    }
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
