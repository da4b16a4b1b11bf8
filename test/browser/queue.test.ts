/**
 * Messages in the console: lists that update without a reload, the publish form and its line for a shell, and the page
 * of a message.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { VIEWS } from '../support/browser/console-browser.js';
import { QueueStand } from '../support/browser/queue-stand.js';
import { eventually } from '../support/eventually.js';
import { QUEUE_TOKEN } from '../support/queue-process.js';

const run = promisify(execFile);
const MIB = 1024 * 1024;

describe('console: messages', function () {
  this.timeout(180_000);
  const stand = new QueueStand();

  before(async () => {
    await stand.start();
    await stand.client.publish({ url: stand.sink.url('/seen'), body: 'hello', label: 'seen' });
    await stand.client.publish({ url: stand.sink.url('/later'), body: 'later', delay: '5h', label: 'night' });
    await stand.fail(1, 'failed');
  });
  afterEach(() => stand.closePages());
  after(() => stand.end());

  const row = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

  for (const view of VIEWS) {
    it(`lists messages and shows the form, which fit and are accessible at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.person(view);
      for (const [path, there] of [
        ['/console/queue', 'tbody tr'],
        ['/console/queue?tab=publish', 'form.publish'],
        [
          `/console/messages/${(await stand.fail(1, `view-${view.width}-${view.scheme}`))[0]}`,
          '.timeline li:nth-child(4)',
        ],
      ] as const) {
        await person.open(path);
        await person.page.locator(there).first().waitFor();
        expect(await person.inaccessible(), path).to.deep.equal([]);
        expect(await person.isTooWide(), path).to.equal(false);
      }
    });
  }

  it('shows a new message without a reload, and counts it in its state', async () => {
    const { page } = await stand.personAt('/console/');
    await page.getByRole('link', { name: 'Queue', exact: true }).click();
    await page.getByText('live', { exact: true }).waitFor();
    await stand.client.publish({ url: stand.sink.url('/appears'), body: 'x' });
    await row(page, '/appears').getByText('delivered').waitFor();
    const scheduled = page.getByRole('link', { name: /^Scheduled/ });
    expect(await scheduled.textContent()).to.equal('Scheduled1');
    await scheduled.click();
    await row(page, '/later').waitFor();
    expect(await page.locator('tbody tr').count()).to.equal(1);
  });

  it('publishes by the form, and its line for a shell does the same', async () => {
    const { page } = await stand.person();
    const path = stand.sink.path('typed');
    await page.goto(`${stand.url}/console/queue?tab=publish`);
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url(path));
    await page.getByRole('textbox', { name: 'Body' }).fill('{"it": "isn’t"');
    await page.getByText(/This is not JSON/).waitFor();
    await page.getByRole('textbox', { name: 'Body' }).fill('{"it": "isn’t\'t"}');
    await page.getByText('It is JSON').waitFor();
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('X-Trace');
    await page.getByLabel('Value of header 1').fill('7f3a');
    await page.getByText('Retries', { exact: true }).first().click();
    await page.getByLabel('Retries', { exact: true }).fill('1');
    await page.getByText('Labels and hidden fields').click();
    await page.getByLabel('Labels').fill('typed, größer');
    await page.getByText('Flow control and priority').click();
    await page.getByLabel('While its destination is stopped').selectOption('dlq');
    await page.getByRole('button', { name: 'Publish' }).click();
    const published = page.locator('[aria-live=polite] a');
    await published.waitFor();
    const [first] = await stand.sink.arrived(path, 1);
    expect(first).to.include({ method: 'POST', body: '{"it": "isn’t\'t"}' });
    expect(first?.headers).to.include({ 'x-trace': '7f3a', 'content-type': 'application/json' });
    const line = (await page.locator('section[aria-label="The same by curl"] pre').textContent()) ?? '';
    await run('bash', ['-c', line], { env: { PATH: process.env.PATH, MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN } });
    const [, second] = await stand.sink.arrived(path, 2);
    expect([second?.body, second?.headers['x-trace']]).to.deep.equal([first?.body, '7f3a']);
    await published.click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.getByText('While its destination is stopped').waitFor();
    for (const label of ['typed', 'größer']) await page.getByRole('link', { name: label, exact: true }).waitFor();
  });

  it('does not publish JSON that it marks as invalid, and publishes it as text', async () => {
    const { page } = await stand.person();
    const path = stand.sink.path('not-json');
    await page.goto(`${stand.url}/console/queue?tab=publish`);
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url(path));
    await page.getByRole('textbox', { name: 'Body' }).fill('{"a":');
    await page.getByText('This is not JSON').waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    expect(await page.evaluate('document.activeElement.matches("textarea:invalid")')).to.equal(true);
    await page.getByLabel('Content type').selectOption('text/plain');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const calls = await stand.sink.arrived(path, 1);
    expect(calls.map(({ body }) => body)).to.deep.equal(['{"a":']);
  });

  it('shows attempts with their answers, the callback and the DLQ entry, and publishes an edited copy', async () => {
    const { page } = await stand.person();
    const path = stand.sink.path('story');
    const url = stand.sink.answer(path, { status: 503, body: 'busy', headers: { 'x-why': 'counting' } });
    const told = stand.sink.url(stand.sink.path('told'));
    const { messageId } = await stand.client.publish({
      url,
      body: '{"order":7}',
      headers: { 'Content-Type': 'application/json', 'X-Trace': '9' },
      retries: 1,
      retryDelay: '10',
      failureCallback: told,
    });
    await page.goto(`${stand.url}/console/messages/${messageId}`);
    await page.getByText('Put into the dead letters').waitFor();
    for (const text of ['First attempt', 'Retry 1', 'Failed for good', 'Failure callback']) {
      expect(await page.locator('.timeline').getByText(text, { exact: true }).count(), text).to.equal(1);
    }
    const answer = page.getByRole('region', { name: 'Answer to retry 1' });
    expect(await answer.textContent())
      .to.include('503')
      .and.include('counting')
      .and.include('busy');
    expect(await page.getByRole('region', { name: 'Request of retry 1' }).textContent())
      .to.include('"order": 7')
      .and.include('X-Trace');
    await page.getByRole('link', { name: 'Publish again edited' }).click();
    const fixed = stand.sink.path('fixed');
    await page.getByLabel('URL', { exact: true }).fill(stand.sink.url(fixed));
    expect(await page.getByLabel('Value of header 1').inputValue()).to.equal('9');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const [call] = await stand.sink.arrived(fixed, 1);
    expect([call?.body, call?.headers['x-trace']]).to.deep.equal(['{"order":7}', '9']);
  });

  for (const view of VIEWS) {
    it(`shows each attempt as request and answer, also the one that delivered, at ${view.width} px, ${view.scheme}`, async () => {
      const person = await stand.person(view);
      const { page } = person;
      const path = stand.sink.path('third-time');
      const busy = { status: 502, body: 'busy' };
      const url = stand.sink.answer(path, busy, busy, { status: 201, body: '{"made":7}', headers: { 'x-at': 'last' } });
      const { messageId } = await stand.client.publish({ url, body: 'order', retries: 3, retryDelay: '10' });
      await page.goto(`${stand.url}/console/messages/${messageId}`);
      const last = page.getByRole('region', { name: 'Answer to retry 2' });
      await last.getByText('201', { exact: true }).waitFor();
      for (const text of ['x-at', '"made": 7']) expect((await last.textContent())?.toLowerCase()).to.include(text);
      expect(await page.getByRole('region', { name: 'Request of retry 2' }).textContent()).to.include('order');
      await page.getByRole('region', { name: 'Attempts' }).getByText('First attempt').click();
      const first = await page.getByRole('region', { name: 'Answer to first attempt' }).textContent();
      expect(first).to.include('502').and.include('busy');
      expect(
        await page
          .getByRole('region', { name: 'Attempts' })
          .getByText(/took \d/)
          .count(),
      ).to.equal(3);
      expect(await person.inaccessible()).to.deep.equal([]);
      expect(await person.isTooWide()).to.equal(false);
    });
  }

  it('retries a message from its page, and shows the new one', async () => {
    const { page } = await stand.person();
    const [id = ''] = await stand.fail(1, 'once-more');
    await page.goto(`${stand.url}/console/messages/${id}`);
    await page.getByRole('button', { name: 'Retry' }).click();
    await eventually(() =>
      expect(page.url())
        .to.match(/messages\/msg_/)
        .and.not.include(id),
    );
  });

  it('cancels one message, several selected ones, and all matching ones, with the progress', async () => {
    const { page } = await stand.person();
    const url = stand.sink.url('/cancelled');
    const one = await stand.client.publish({ url, delay: '1h' });
    await page.goto(`${stand.url}/console/messages/${one.messageId}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('h1 + .badge', { hasText: 'canceled' }).waitFor();
    await stand.client.batch(Array.from({ length: 130 }, () => ({ url, delay: '1h' as const, label: 'bulk' })));
    await page.goto(`${stand.url}/console/queue?state=scheduled&label=bulk`);
    await page.locator('tbody tr').first().waitFor();
    await page.locator('tbody input').nth(0).check();
    await page.locator('tbody input').nth(1).check();
    await page.getByRole('button', { name: 'Cancel 2 chosen' }).click();
    await page.getByRole('button', { name: 'Cancel them' }).click();
    await page.getByRole('link', { name: 'Scheduled 128' }).waitFor();
    await page.getByRole('button', { name: 'Cancel all that match' }).click();
    await page.getByRole('dialog').getByText('128 messages that are under way').waitFor();
    await page.getByRole('button', { name: 'Cancel all of them' }).click();
    await page.getByText('128 of 128 cancelled; that was all').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByText('No message meets these filters').waitFor();
  });

  it('shows hostile labels, headers and bodies as text', async () => {
    const { page } = await stand.person();
    const script = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const url = stand.sink.url('/hostile?<b>&"');
    const texts = [script, 'مرحبا بالعالم', `"${'x'.repeat(MIB - 2)}"`, new Blob([new Uint8Array([0, 255, 254, 7])])];
    for (const body of texts) {
      const { messageId } = (await stand.client.publish({
        url,
        body,
        delay: '1h',
        label: script,
        headers: { 'X-Evil': script },
      })) as { messageId: string };
      await page.goto(`${stand.url}/console/messages/${messageId}`);
      const request = page.getByRole('region', { name: 'Request' });
      await request.locator('pre').waitFor();
      const shown = (await request.textContent()) ?? '';
      expect(shown).to.include(script);
      if (typeof body !== 'string') expect(shown).to.include('\\x00\\xff\\xfe\\x07');
      else expect(shown).to.include(body.slice(0, 50_000));
      expect(await page.title()).to.match(/Millrace$/);
    }
    await page.goto(`${stand.url}/console/queue?label=${encodeURIComponent(script)}`);
    await row(page, '/hostile').first().waitFor();
    expect(await row(page, '/hostile').first().textContent()).to.include(script);
    expect(await page.locator('main img').count()).to.equal(0);
  });

  it('shows that a message is unknown', async () => {
    const person = (await stand.person()).allowProblem(/^404 .*msg_none/);
    await person.open('/console/messages/msg_none');
    await person.page.getByText('No message of this id is known').waitFor();
  });

  it('shows no buttons for changes to a read-only key', async () => {
    const { page } = await stand.person(undefined, await stand.readOnlyKey('looks'));
    const [id] = await stand.fail(1, 'looked-at');
    await page.goto(`${stand.url}/console/queue`);
    await page.locator('tbody tr').first().waitFor();
    expect(await page.locator('tbody input').count()).to.equal(0);
    for (const name of ['Publish', 'Signing keys']) {
      expect(await page.getByRole('link', { name, exact: true }).count(), name).to.equal(0);
    }
    await page.goto(`${stand.url}/console/messages/${id}`);
    await page.getByText('Put into the dead letters').waitFor();
    expect(await page.locator('.page-head button, .page-head .button').count()).to.equal(0);
  });
});
