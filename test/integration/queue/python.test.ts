/**
 * A program with the published Python client, where pip can install it, and its special forms of requests over raw
 * HTTP, which are tested everywhere.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { expectAnswer, expectDone, type PublishedRecord } from '../../support/queue-answers.js';
import { QUEUE_TOKEN, QueueProcess, SIGNING_KEYS } from '../../support/queue-process.js';

const run = promisify(execFile);

const UNREACHABLE = 'http://127.0.0.1:9/nobody';
const PIP = ['-m', 'pip', 'install', '--quiet', '--retries', '0', '--timeout', '5', '--disable-pip-version-check'];

/** Ends well, or with the reason. Arguments: the server, the token, a destination. */
const PROGRAM = `
import sys, time
from qstash import QStash

url, token, destination = sys.argv[1:]
client = QStash(token, base_url=url)

def eventually(check):
    for _ in range(100):
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not come to pass")

published = client.message.publish_json(url=destination, body={"a": 1}, headers={"x-own": "1"})
message = client.message.get(published.message_id)
assert message.url == destination and message.method == "POST" and message.max_retries == 3
eventually(lambda: client.log.list(filter={"message_id": published.message_id, "state": "DELIVERED"}).logs)

delayed = [client.message.publish(url=destination, body="b", delay="1h").message_id for _ in range(3)]
assert client.message.cancel_many(delayed[:2]) == 2
assert client.message.cancel_all() == 1

client.queue.upsert("python", parallelism=2)
assert client.queue.get("python").parallelism == 2
client.message.enqueue(queue="python", url=destination, body="b")
client.queue.delete("python")

client.url_group.delete("python")
client.url_group.upsert_endpoints(url_group="python", endpoints=[{"url": destination}])
assert len(client.message.publish(url_group="python", body="b")) == 1
client.url_group.delete("python")

schedule = client.schedule.create_json(cron="1 1 1 1 1", destination=destination, body={"a": 1})
client.schedule.pause(schedule)
assert client.schedule.get(schedule).paused is True
client.schedule.delete(schedule)

failing = client.message.publish_json(url="${UNREACHABLE}", retries=0).message_id
dead = eventually(lambda: [m for m in client.dlq.list().messages if m.message_id == failing])
assert client.dlq.get(dead[0].dlq_id).response_status == 0
assert client.dlq.delete_many([dead[0].dlq_id]) == 1
assert client.signing_key.get().current == "${SIGNING_KEYS.current}"
print("done")
`;

import { standOfAllTests } from '../../support/stand-hooks.js';

describe('the Python client', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());

  it('runs a program with every call', async function () {
    this.timeout(180_000);
    const folder = await mkdtemp(join(tmpdir(), 'millrace-python-'));
    try {
      const packages = join(folder, 'packages');
      const hasClient = await run('python3', [...PIP, '--target', packages, 'qstash'], { timeout: 60_000 }).then(
        () => true,
        () => false,
      );
      if (!hasClient) {
        console.log('      (left out: pip does not reach the published client)');
        this.skip();
      }
      await writeFile(join(folder, 'program.py'), PROGRAM);
      const args = [join(folder, 'program.py'), queue.url, QUEUE_TOKEN, queue.sink.url(queue.sink.path())];
      const env = { ...process.env, PYTHONPATH: packages };
      const { stdout } = await run('python3', args, { timeout: 60_000, env });
      expect(stdout.trim()).to.equal('done');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('sends a content type as a forwarded header, which becomes the content type', async () => {
    const path = queue.sink.path();
    await queue.publish(queue.sink.url(path), { headers: { 'Upstash-Forward-content-type': 'text/x-own' }, body: 'b' });
    expect((await queue.sink.call(path)).headers).to.include({ 'content-type': 'text/x-own' });
  });

  it('sends null for absent members of a batch item', async () => {
    const headers = { 'Upstash-Delay': '1d', 'Upstash-Method': 'POST' };
    const body = [{ destination: UNREACHABLE, headers, body: null, queue: null }];
    const [published] = expectAnswer<PublishedRecord[]>(await queue.post('/v2/batch', { body }), 200);
    expect(published).to.include({ url: UNREACHABLE });
  });

  it('cancels by ids in a body, and all messages without filters', async () => {
    const headers = { 'Upstash-Delay': '1d' };
    const ids = [await queue.publish(UNREACHABLE, { headers }), await queue.publish(UNREACHABLE, { headers })];
    const some = await queue.delete('/v2/messages', { body: { messageIds: ids.slice(0, 1) } });
    expect(expectAnswer(some, 200)).to.deep.equal({ cancelled: 1 });
    const all = expectAnswer<{ cancelled: number }>(await queue.delete('/v2/messages'), 200);
    expect(all.cancelled).to.be.at.least(1);
    expect(expectAnswer(await queue.delete('/v2/messages'), 200)).to.deep.equal({ cancelled: 0 });
  });

  it('deletes DLQ entries by ids in a body', async () => {
    const id = await queue.publish(UNREACHABLE, { headers: { 'Upstash-Retries': '0' } });
    const { dlqId } = await queue.deadLetterOf(id);
    const deleted = await queue.delete('/v2/dlq', { body: { dlqIds: [dlqId] } });
    expect(expectAnswer(deleted, 200)).to.deep.equal({ deleted: 1 });
  });

  it('sets options of a callback by the Callback prefix', async () => {
    const after = queue.sink.path('after');
    await queue.publish(queue.sink.url(queue.sink.path()), {
      headers: { 'Upstash-Callback': queue.sink.url(after), 'Upstash-Callback-Method': 'PUT' },
    });
    expect(await queue.sink.call(after)).to.include({ method: 'PUT' });
  });

  it('finds all required members in records', async () => {
    const flow = { 'Upstash-Flow-Control-Key': 'python', 'Upstash-Flow-Control-Value': 'rate=23, period=1h30m3s' };
    const id = await queue.publish(UNREACHABLE, { headers: { 'Upstash-Delay': '1d', ...flow } });
    const message = expectAnswer(await queue.get(`/v2/messages/${id}`), 200);
    expect(message).to.include.keys('messageId', 'url', 'method', 'maxRetries', 'notBefore', 'createdAt', 'callerIP');
    expect(message).to.include({ flowControlKey: 'python', rate: 23, period: 5403 });
    const [event] = await queue.eventsOf(id, 'CREATED');
    expect(event).to.include.keys('time', 'messageId', 'state', 'url');
    expectDone(await queue.post('/v2/queues', { body: { queueName: 'python', parallelism: 1, paused: false } }));
    const record = expectAnswer(await queue.get('/v2/queues/python'), 200);
    expect(record).to.have.all.keys('name', 'parallelism', 'paused', 'lag', 'createdAt', 'updatedAt');
  });
});
