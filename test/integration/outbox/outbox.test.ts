/** Commands of databases that send messages to the queue, by published clients, on a real process. */
import { Queue } from 'bullmq';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { failureOf } from '../../support/millrace-clients.js';
import { PASSWORD, READONLY_TOKEN, TOKEN } from '../../support/millrace-process.js';
import { QueueProcess } from '../../support/queue-process.js';

/** A client that extends the script by which BullMQ adds a job: the job and a message about it are one entry. */
class PublishingRedis extends Redis {
  url = '';

  override defineCommand(name: string, definition: Parameters<Redis['defineCommand']>[1]): void {
    const { lua } = definition;
    const isExtended = name.startsWith('addStandardJob');
    const publish = () => `redis.call('QUEUE.PUBLISH', '${this.url}', jobId)\nreturn jobId`;
    super.defineCommand(
      name,
      isExtended ? { ...definition, lua: lua.replace(/return jobId\s*$/, publish) } : definition,
    );
  }
}

type Answer = { readonly result?: unknown; readonly error?: string };

describe('QUEUE commands on a process', function () {
  this.timeout(60_000);
  let queue: QueueProcess;
  let redis: Redis;
  let path: string;
  let port: number;
  let url: string;

  before(async () => {
    port = await freePort();
    queue = await QueueProcess.start({ MILLRACE_RESP_PORT: String(port) });
    redis = new Redis({ port, password: PASSWORD, maxRetriesPerRequest: 1 });
  });
  beforeEach(async () => {
    await redis.flushall();
    path = queue.sink.path('order');
    url = queue.sink.url(path);
  });
  after(async () => {
    redis.disconnect();
    await queue.stop();
  });

  const rest = async (route: string, body: unknown, token = TOKEN): Promise<{ status: number; json: unknown }> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${queue.millrace.kvUrl}${route}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: answer.status, json: await answer.json() };
  };

  it('QUEUE.PUBLISH in MULTI sends the message with its headers, and answers its id', async () => {
    const results = await redis
      .multi()
      .set('order:1', 'paid')
      .call('QUEUE.PUBLISH', url, '{"order":1}', 'HEADER', 'X-Shop', 'one', 'RETRIES', '1', 'LABEL', 'mail')
      .exec();
    const id = results?.[1]?.[1] as string;
    expect(results?.[0]).to.deep.equal([null, 'OK']);
    expect(id).to.match(/^msg_/);
    const call = await queue.sink.call(path);
    expect(call.body).to.equal('{"order":1}');
    expect(call.headers['x-shop']).to.equal('one');
    const [created] = await queue.eventsOf(id, 'DELIVERED');
    expect(created).to.include({ messageId: id, label: 'mail' });
  });

  it('EXEC is discarded before its first command when the queue would refuse a message', async () => {
    const published = await queue.post(`/v2/publish/${url}`, { headers: { 'Svc-Delay': 'soon' } });
    const { error } = published.json as { error: string };
    const refused = redis.multi().set('k', 'v').call('QUEUE.PUBLISH', url, 'a', 'DELAY', 'soon').exec();
    expect(await failureOf(refused)).to.equal(`EXECABORT Transaction discarded because of: ERR queue: ${error}`);
    const answer = await rest('/multi-exec', [
      ['SET', 'k', 'v'],
      ['QUEUE.PUBLISH', url, 'a', 'DELAY', 'soon'],
    ]);
    expect(answer.status).to.equal(400);
    expect((answer.json as Answer).error).to.contain(`ERR queue: ${error}`);
    expect(await redis.exists('k')).to.equal(0);
  });

  it('a failed WATCH, DISCARD and a script that ends before QUEUE.PUBLISH send no message', async () => {
    const other = redis.duplicate();
    await other.watch('k');
    await redis.set('k', 'changed');
    expect(await other.multi().call('QUEUE.PUBLISH', url, 'watched').exec()).to.equal(null);
    await other.call('MULTI');
    await other.call('QUEUE.PUBLISH', url, 'discarded');
    await other.call('DISCARD');
    other.disconnect();
    const script = `redis.call('SET', KEYS[1], 'x') redis.call('INCR', KEYS[1]) redis.call('QUEUE.PUBLISH', ARGV[1], 'b')`;
    expect(await failureOf(redis.eval(script, 1, 'k', url))).to.contain('not an integer');
    await redis.call('QUEUE.PUBLISH', url, 'sent');
    const call = await queue.sink.call(path);
    expect(call.body).to.equal('sent');
  });

  it('the REST routes for one command, pipelines and /multi-exec send messages in their order', async () => {
    const single = await rest('/', ['QUEUE.PUBLISH', url, '1', 'QUEUE', 'orders']);
    expect((single.json as Answer).result).to.match(/^msg_/);
    const several = [
      ['QUEUE.PUBLISH', url, '2', 'QUEUE', 'orders'],
      ['QUEUE.PUBLISH', url, '3', 'QUEUE', 'orders'],
    ];
    expect((await rest('/pipeline', several)).json).to.have.length(2);
    expect((await rest('/multi-exec', [['INCR', 'n'], ...several])).json).to.have.length(3);
    const calls = await queue.sink.arrived(path, 5);
    expect(calls.map(({ body }) => body)).to.deep.equal(['1', '2', '3', '2', '3']);
  });

  it('DEDUP lets the queue accept one of two messages', async () => {
    for (const body of ['first', 'second']) await redis.call('QUEUE.PUBLISH', url, body, 'DEDUP', path.slice(1));
    await redis.call('QUEUE.PUBLISH', url, 'last');
    const calls = await queue.sink.arrived(path, 2);
    expect(calls.map(({ body }) => body).sort()).to.deep.equal(['first', 'last']);
  });

  it('the rate limiter of the documentation of INCR publishes a message at its limit', async () => {
    const limiter = `local current = redis.call('INCR', KEYS[1])
      if current == 1 then redis.call('EXPIRE', KEYS[1], 60) end
      if current == tonumber(ARGV[1]) + 1 then redis.call('QUEUE.PUBLISH', ARGV[2], KEYS[1]) end
      return current`;
    const counts = await Promise.all(Array.from({ length: 5 }, () => redis.eval(limiter, 1, 'caller:1', 3, url)));
    expect(counts.sort()).to.deep.equal([1, 2, 3, 4, 5]);
    expect((await queue.sink.call(path)).body).to.equal('caller:1');
  });

  it("BullMQ's script that adds a job publishes a message with the job", async () => {
    const connection = new PublishingRedis({ port, password: PASSWORD, maxRetriesPerRequest: null });
    connection.url = url;
    const jobs = new Queue('mails', { connection });
    await jobs.waitUntilReady();
    const job = await jobs.add('send', { order: 1 });
    expect((await queue.sink.call(path)).body).to.equal(job.id);
    expect(await jobs.getWaitingCount()).to.equal(1);
    await jobs.close();
    connection.disconnect();
  });

  it('a read-only token, and a user without @queue, may not publish', async () => {
    const denied = await rest('/', ['QUEUE.PUBLISH', url, 'a'], READONLY_TOKEN);
    expect((denied.json as Answer).error).to.contain('NOPERM');
    await redis.call('ACL', 'SETUSER', 'writer', 'on', '>pw', '~*', '+@all', '-@queue');
    const writer = redis.duplicate({ username: 'writer', password: 'pw' });
    expect(await writer.set('k', 'v')).to.equal('OK');
    expect(await failureOf(writer.call('QUEUE.PUBLISH', url, 'a'))).to.contain('NOPERM');
    writer.disconnect();
  });

  it('QUEUE.SCHEDULE makes a schedule, QUEUE.TRIGGER a run, and QUEUE.NOTIFY is accepted', async () => {
    const id = await redis.call('QUEUE.SCHEDULE', url, 'tick', 'CRON', '0 8 * * *', 'SCHEDULE-ID', 'report');
    expect(id).to.equal('report');
    await eventually(async () => {
      const { json } = await queue.get('/v2/schedules/report');
      expect(json).to.include({ cron: '0 8 * * *', destination: url });
    });
    const run = await redis.call('QUEUE.TRIGGER', url, '{"order":2}', 'RUN', 'run-of-order-2');
    expect(run).to.equal('run-of-order-2');
    await eventually(() => {
      const headers = queue.sink.calls(path)[0]?.headers;
      expect(headers?.['upstash-workflow-runid'] ?? headers?.['svc-workflow-runid']).to.equal('run-of-order-2');
    });
    expect(await redis.call('QUEUE.NOTIFY', 'paid', '{}')).to.match(/^msg_/);
  });

  it('a message to a missing group becomes a DLQ entry, and later ones are sent', async () => {
    const id = (await redis.call('QUEUE.PUBLISH', 'no-such-group', 'lost')) as string;
    await redis.call('QUEUE.PUBLISH', url, 'next');
    const entry = await queue.deadLetterOf(id);
    expect(entry).to.include({ topicName: 'no-such-group', body: 'lost' });
    expect((await queue.sink.call(path)).body).to.equal('next');
  });

  it('CONFIG SET queue-account refuses the queue of another owner', async () => {
    await redis.config('SET', 'queue-account', 'ac-someone');
    const refusal = await failureOf(redis.call('QUEUE.PUBLISH', url, 'a'));
    await redis.config('SET', 'queue-account', '');
    expect(refusal).to.contain('ERR queue: the owner of the database has no queue ac-someone');
  });

  it('FLUSHALL keeps messages, before and after QUEUE.PUBLISH', async () => {
    await redis.multi().flushall().call('QUEUE.PUBLISH', url, 'kept').flushall().exec();
    expect((await queue.sink.call(path)).body).to.equal('kept');
  });
});
