/** The DLQ and the logs over raw HTTP on a real process: each success, each error. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  expectAnswer,
  expectDone,
  expectRefused,
  itRefuses,
  type PublishedRecord,
} from '../../support/queue-answers.js';
import { QueueProcess } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const DELAYED = { 'Svc-Delay': '1d' };
const UNKNOWN_DLQ_ID = '1700000000000-1';

describe('routes of the DLQ and the logs', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());
  const served = () => queue;

  const deadLetter = async (headers: Record<string, string> = {}) => {
    const url = queue.sink.answer(queue.sink.path('failing'), { status: 500, body: 'no' });
    return queue.deadLetterOf(await queue.publish(url, { headers: { 'Svc-Retries': '0', ...headers }, body: 'b' }));
  };

  describe('/v2/messages/:id/story', () => {
    interface Story {
      readonly state: string;
      readonly isUnderWay: boolean;
      readonly nextDeliveryTime?: number;
      readonly callbackOf?: string;
      readonly message: Record<string, unknown>;
      readonly events: readonly { state: string }[];
      readonly attempts: readonly Record<string, unknown>[];
      readonly callbacks: readonly Record<string, unknown>[];
      readonly dlq?: Record<string, unknown>;
    }
    const storyOf = async (id: string) => expectAnswer<Story>(await queue.get(`/v2/messages/${id}/story`), 200);

    it('shows the attempts of a waiting, a delivered and a failed message', async () => {
      const waiting = await storyOf(await queue.publish(UNREACHABLE, { headers: DELAYED, body: 'later' }));
      expect([waiting.state, waiting.isUnderWay, waiting.attempts]).to.deep.equal(['CREATED', true, []]);
      expect(waiting.message.body).to.equal('later');
      expect(waiting.nextDeliveryTime).to.be.greaterThan(Date.now());

      const callback = queue.sink.url(queue.sink.path('callback'));
      const headers = { 'Svc-Callback': callback, 'Svc-Failure-Callback': callback, 'Svc-Retries': '1' };
      const id = await queue.publish(queue.sink.url(queue.sink.path('fine')), { headers, body: 'b' });
      await eventually(async () => {
        const { state, isUnderWay, attempts, callbacks } = await storyOf(id);
        expect([state, isUnderWay, attempts.map(({ outcome }) => outcome)]).to.deep.equal([
          'DELIVERED',
          false,
          ['DELIVERED'],
        ]);
        expect(callbacks.map(({ kind, retried, state: of }) => [kind, retried, of])).to.deep.equal([
          ['callback', 0, 'DELIVERED'],
        ]);
        expect((await storyOf(String(callbacks[0]?.messageId))).callbackOf).to.equal(id);
      });

      const failing = queue.sink.answer(queue.sink.path('failing'), { status: 500, body: 'no' });
      const failed = await queue.publish(failing, { headers: { ...headers, 'Svc-Retry-Delay': '10' }, body: 'b' });
      const { dlqId } = await queue.deadLetterOf(failed);
      await eventually(async () => {
        const { state, attempts, callbacks, dlq, events } = await storyOf(failed);
        expect([state, dlq?.dlqId, dlq?.responseBody]).to.deep.equal(['FAILED', dlqId, 'no']);
        expect(events.map((event) => event.state)).to.deep.equal([
          'CREATED',
          'ACTIVE',
          'ERROR',
          'RETRY',
          'ACTIVE',
          'ERROR',
          'FAILED',
        ]);
        for (const [retried, attempt] of attempts.entries()) {
          expect(attempt).to.deep.include({ retried, outcome: 'ERROR', responseStatus: 500, responseBody: 'no' });
        }
        expect(attempts.length).to.equal(2);
        expect(callbacks.map(({ kind, retried }) => [kind, retried])).to.have.deep.members([
          ['callback', 0],
          ['callback', 1],
          ['failureCallback', 1],
        ]);
      });
      expectDone(await queue.delete(`/v2/dlq/${dlqId}`));
      const left = await storyOf(failed);
      expect([left.state, left.dlq]).to.deep.equal(['FAILED', undefined]);
    });

    it('answers 404 for an unknown message', async () => {
      expectRefused(await queue.get('/v2/messages/msg_none/story'), 404, /message msg_none not found/);
    });
  });

  describe('/v2/dlq', () => {
    it('shows, lists and deletes an entry', async () => {
      const { dlqId, messageId } = await deadLetter();
      const entry = expectAnswer<object>(await queue.get(`/v2/dlq/${dlqId}`), 200);
      expect(dlqId).to.match(/^\d{13}-\d+$/);
      expect(entry).to.include({ dlqId, messageId, body: 'b', responseStatus: 500, responseBody: 'no', maxRetries: 0 });
      const { messages } = expectAnswer<{ messages: object[] }>(await queue.get(`/v2/dlq?dlqIds=${dlqId}`), 200);
      expect(messages).to.deep.equal([entry]);
      expectDone(await queue.delete(`/v2/dlq/${dlqId}`));
      expectRefused(await queue.get(`/v2/dlq/${dlqId}`), 404, /not found/);
      expectRefused(await queue.delete(`/v2/dlq/${dlqId}`), 404, /not found/);
    });

    it('lists entries with bodies cut by trimBody, and grouped by message', async () => {
      const { dlqId } = await deadLetter();
      for (const [trim, body, responseBody] of [
        ['1', 'b', 'n'],
        ['0', undefined, undefined],
      ]) {
        const answer = await queue.get(`/v2/dlq?dlqIds=${dlqId}&groupBy=messageId&trimBody=${trim}`);
        const [entry] = expectAnswer<{ messages: Record<string, unknown>[] }>(answer, 200).messages;
        expect([entry?.body, entry?.responseBody]).to.deep.equal([body, responseBody]);
      }
    });

    it('is deleted and retried page by page, with the cursor of the answer', async () => {
      const label = 'bulk';
      for (let count = 0; count < 7; count += 1) await deadLetter({ 'Svc-Label': label });
      const toDate = Date.now();
      const of = `label=${label}&toDate=${toDate}&count=2`;
      const counted = async () =>
        expectAnswer<{ total: number }>(await queue.get(`/v2/dlq/counts?label=${label}&toDate=${toDate}`), 200).total;
      expect(await counted()).to.equal(7);
      const first = expectAnswer<{ deleted: number; cursor: string }>(await queue.delete(`/v2/dlq?${of}`), 200);
      expect(first.deleted).to.equal(2);
      // No page is requested any more, so the rest stays.
      expect(await counted()).to.equal(5);
      let cursor: string | undefined = first.cursor;
      let sent = 0;
      while (cursor !== undefined) {
        const answer = await queue.post(`/v2/dlq/retry?${of}&cursor=${cursor}`);
        const page: { responses: object[]; cursor?: string } = expectAnswer(answer, 201);
        sent += page.responses.length;
        cursor = page.cursor;
      }
      // The retried messages fail again after the last call.
      expect([sent, await counted()]).to.deep.equal([5, 0]);
    });

    it('lists no messages with source=workflow', async () => {
      await deadLetter();
      expect(expectAnswer(await queue.get('/v2/dlq?source=workflow'), 200)).to.deep.equal({ messages: [] });
    });

    it('lists in either order, deletes up to a count, and continues at the cursor', async () => {
      const label = { 'Svc-Label': 'ordered' };
      const ids: string[] = [];
      for (let n = 0; n < 3; n += 1) ids.push((await deadLetter(label)).dlqId);
      const listed = async (query: string) => {
        const answer = await queue.get(`/v2/dlq?label=ordered&${query}`);
        const page = expectAnswer<{ messages: { dlqId: string }[]; cursor?: string }>(answer, 200);
        return { ids: page.messages.map(({ dlqId }) => dlqId), cursor: page.cursor };
      };
      expect(await listed('order=earliestFirst')).to.deep.equal({ ids, cursor: undefined });
      expect((await listed('order=latestFirst')).ids).to.deep.equal([...ids].reverse());
      const first = await listed('count=2');
      expect(first.ids).to.deep.equal(ids.slice(0, 2));
      expect(await listed(`count=2&cursor=${first.cursor}`)).to.deep.equal({ ids: ids.slice(2), cursor: undefined });
      const deleted = await queue.delete('/v2/dlq?label=ordered&count=2');
      expect(expectAnswer<{ deleted: number }>(deleted, 200).deleted).to.equal(2);
      expect(expectAnswer(await queue.delete('/v2/dlq?label=ordered'), 200)).to.deep.equal({ deleted: 1 });
      expect(expectAnswer(await queue.delete('/v2/dlq?label=ordered'), 200)).to.deep.equal({ deleted: 0 });
    });

    it('retries an entry as a new message with the settings of the call', async () => {
      const { dlqId, messageId } = await deadLetter({ 'Svc-Label': 'kept' });
      const headers = { 'Svc-Delay': '1h', 'Svc-Retries': '2' };
      const published = expectAnswer<PublishedRecord>(await queue.post(`/v2/dlq/retry/${dlqId}`, { headers }), 201);
      expect(published.messageId).not.to.equal(messageId);
      const message = expectAnswer(await queue.get(`/v2/messages/${published.messageId}`), 200);
      expect(message).to.include({ body: 'b', maxRetries: 2, label: 'kept' });
      expectRefused(await queue.get(`/v2/dlq/${dlqId}`), 404, /not found/);
      expectRefused(await queue.post(`/v2/dlq/retry/${dlqId}`), 404, /not found/);
    });

    it('retries an entry once when ten calls ask in parallel', async () => {
      const { dlqId } = await deadLetter();
      const headers = { 'Svc-Delay': '1h' };
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => queue.post(`/v2/dlq/retry/${dlqId}`, { headers })),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(1);
      expect(answers.filter(({ status }) => status === 404)).to.have.lengthOf(9);
    });

    it('retries the entries of a filter', async () => {
      const label = { 'Svc-Label': 'in-bulk' };
      await Promise.all([deadLetter(label), deadLetter(label)]);
      const answer = await queue.post('/v2/dlq/retry?label=in-bulk', { headers: { 'Svc-Delay': '1h' } });
      const { responses } = expectAnswer<{ responses: PublishedRecord[] }>(answer, 201);
      expect(responses).to.have.lengthOf(2);
      const again = expectAnswer(await queue.post('/v2/dlq/retry?label=in-bulk'), 201);
      expect(again).to.deep.include({ responses: [] });
      expect(expectAnswer(await queue.delete('/v2/messages?label=in-bulk'), 200)).to.deep.equal({ cancelled: 2 });
    });

    it('retries no entry when one of the ids is unknown', async () => {
      const { dlqId } = await deadLetter();
      const target = `/v2/dlq/retry?dlqIds=${dlqId},${UNKNOWN_DLQ_ID}`;
      expectRefused(await queue.post(target), 404, /some messages were not found/);
      expectAnswer(await queue.get(`/v2/dlq/${dlqId}`), 200);
    });

    itRefuses(served, [
      ['an unknown entry', 'GET', `/v2/dlq/${UNKNOWN_DLQ_ID}`, {}, 404, /not found/],
      ['the deletion of an unknown entry', 'DELETE', `/v2/dlq/${UNKNOWN_DLQ_ID}`, {}, 404, /not found/],
      ['the retry of an unknown entry', 'POST', `/v2/dlq/retry/${UNKNOWN_DLQ_ID}`, {}, 404, /not found/],
      ['an unknown filter', 'DELETE', '/v2/dlq?lable=a', {}, 400, /unknown parameter lable/],
      ['an invalid groupBy', 'GET', '/v2/dlq?groupBy=label', {}, 400, /groupBy must be messageId/],
      ['trimBody in a deletion', 'DELETE', '/v2/dlq?trimBody=0', {}, 400, /unknown parameter trimBody/],
      ['groupBy in a retry', 'POST', '/v2/dlq/retry?groupBy=messageId', {}, 400, /unknown parameter groupBy/],
      ['an unknown filter of a list', 'GET', '/v2/dlq?lable=a', {}, 400, /unknown parameter lable/],
      ['an unknown filter of a retry', 'POST', '/v2/dlq/retry?lable=a', {}, 400, /unknown parameter lable/],
      ['the filter host', 'DELETE', '/v2/dlq?host=a', {}, 400, /unknown parameter host/],
      ['the filter path', 'POST', '/v2/dlq/retry?path=a', {}, 400, /unknown parameter path/],
      ['a count above the maximum', 'DELETE', '/v2/dlq?count=101', {}, 400, /count/],
      ['a count of 0', 'GET', '/v2/dlq?count=0', {}, 400, /count/],
      ['an invalid cursor', 'GET', '/v2/dlq?cursor=abc', {}, 400, /cursor/],
      ['an invalid order', 'GET', '/v2/dlq?order=random', {}, 400, /order/],
      ['an invalid status', 'GET', '/v2/dlq?responseStatus=bad', {}, 400, /responseStatus/],
      ['a missing id', 'DELETE', '/v2/dlq/', {}, 400, /dlq id is missing/],
      ['a missing id in a retry', 'POST', '/v2/dlq/retry/', {}, 400, /dlq id is missing/],
      ['invalid settings', 'POST', '/v2/dlq/retry', { headers: { 'Svc-Retries': 'x' } }, 400, /retries/i],
    ]);
  });

  describe('/v2/events and /v2/logs', () => {
    it('list the same events under both names, in either order', async () => {
      const id = await queue.publish(queue.sink.url(queue.sink.path()), { body: 'b' });
      const events = await queue.eventsOf(id, 'DELIVERED');
      expect(events.map(({ state }) => state)).to.deep.equal(['CREATED', 'ACTIVE', 'DELIVERED']);
      for (const path of ['events', 'logs']) {
        const answer = expectAnswer<Record<string, unknown>>(await queue.get(`/v2/${path}?messageId=${id}`), 200);
        expect(answer).to.have.all.keys('events', 'logs', 'messages');
        expect(answer.events).to.deep.equal(answer.logs);
        expect(answer.events).to.deep.equal([...events].reverse());
      }
      expect(events[0]).to.include({ messageId: id, body: Buffer.from('b').toString('base64') });
    });

    it('accept both spellings of a cancellation, and several states', async () => {
      const id = await queue.publish(UNREACHABLE, { headers: DELAYED });
      await queue.delete(`/v2/messages/${id}`);
      await queue.eventsOf(id, 'CANCELED');
      for (const state of ['CANCELED', 'CANCELLED', 'canceled', 'DELIVERED,CANCELED', 'DELIVERED&state=CANCELED']) {
        const answer = await queue.get(`/v2/events?messageId=${id}&state=${state}`);
        expect(expectAnswer<{ events: object[] }>(answer, 200).events, state).to.have.lengthOf(1);
      }
    });

    it('list events grouped by message, and the events of given message ids', async () => {
      const ids = [1, 2].map(() =>
        queue.publish(queue.sink.url(queue.sink.path()), { headers: { 'Svc-Label': 'by-message' }, body: 'b' }),
      );
      const [one = '', two = ''] = await Promise.all(ids);
      for (const id of [one, two]) await queue.eventsOf(id, 'DELIVERED');
      interface Group {
        readonly messageId: string;
        readonly body?: string;
        readonly events: readonly { readonly state: string }[];
      }
      const asked = async (query: string) =>
        expectAnswer<{ messages: Group[]; cursor?: string; events?: object[]; logs?: object[] }>(
          await queue.get(`/v2/logs?${query}`),
          200,
        );
      const grouped = await asked('groupBy=messageId&label=by-message');
      expect(grouped).to.have.all.keys('messages');
      expect(grouped.messages.map(({ messageId }) => messageId)).to.have.members([one, two]);
      for (const { events, body } of grouped.messages) {
        expect(events.map(({ state }) => state)).to.deep.equal(['DELIVERED', 'ACTIVE', 'CREATED']);
        expect(body).to.equal('Yg==');
      }
      const page = await asked('groupBy=messageId&label=by-message&count=1&trimBody=0');
      expect(page.messages).to.have.lengthOf(1);
      expect(page.messages[0]).to.not.have.property('body');
      const rest = await asked(`groupBy=messageId&label=by-message&cursor=${page.cursor}`);
      expect([...page.messages, ...rest.messages].map(({ messageId }) => messageId)).to.have.members([one, two]);
      expect(rest).to.not.have.property('cursor');

      const named = await asked(`messageIds=${one},${two}`);
      expect(named.messages.map(({ events }) => events.length)).to.deep.equal([3, 3]);
      expect([named.events?.length, named.logs?.length]).to.deep.equal([6, 6]);
      expect(await asked('label=by-message')).to.not.have.property('messages');
    });

    it('accept an instant as a cursor, as the published client sends it', async () => {
      const id = await queue.publish(queue.sink.url(queue.sink.path()), { body: 'b' });
      const delivered = (await queue.eventsOf(id, 'DELIVERED')).at(-1)?.time as number;
      const from = async (cursor: number) => {
        const answer = await queue.get(`/v2/events?messageId=${id}&cursor=${cursor}`);
        return expectAnswer<{ events: object[] }>(answer, 200).events.length;
      };
      expect(await from(delivered + 1)).to.equal(3);
      expect(await from(delivered - 60_000)).to.equal(0);
    });

    itRefuses(served, [
      ['an unknown filter', 'GET', '/v2/events?lable=a', {}, 400, /unknown parameter lable/],
      ['an invalid groupBy', 'GET', '/v2/events?groupBy=label', {}, 400, /groupBy must be messageId/],
      ['an invalid trimBody', 'GET', '/v2/logs?trimBody=-2', {}, 400, /trimBody must be a whole number/],
      ['a cursor by message elsewhere', 'GET', '/v2/logs?cursor=1-2-3-4', {}, 400, /cursor/],
      ['an unknown state', 'GET', '/v2/events?state=LOST', {}, 400, /unknown state LOST/],
      ['a count above the maximum', 'GET', '/v2/events?count=1001', {}, 400, /count/],
      ['an invalid cursor', 'GET', '/v2/logs?cursor=abc', {}, 400, /cursor/],
      ['an invalid order', 'GET', '/v2/logs?order=random', {}, 400, /order/],
    ]);
  });
});
