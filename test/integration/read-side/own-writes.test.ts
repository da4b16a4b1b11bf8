/**
 * A client reads its own writes through any edge while the process with the read models is suspended again and again:
 * the management API answers without the read models, and lists of the queue wait for them.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { QUEUE_TOKEN } from '../../support/queue-process.js';
import { QueueSink } from '../../support/queue-sink.js';
import type { Listed, ReadSide } from '../../support/read-side.js';
import { ReadSideCluster } from '../../support/read-side-cluster.js';

const ROUNDS = 200;
const LISTS = 20;
/** Shorter than a list waits (2 s), longer than folding takes. */
const ASLEEP_MS = 100;
/** Rounds in a row; in the first of them the keeper sleeps all the time. */
const BLOCK = 50;
const ASLEEP = 8;

interface Kind {
  make(at: ReadSide, name: string): Promise<string>;
  isThere(at: ReadSide, id: string): Promise<boolean>;
  remove(at: ReadSide, id: string): Promise<unknown>;
}

const KINDS: readonly Kind[] = [
  {
    make: async (at, name) =>
      (await at.manage('POST', '/v2/kv/database', { name, region: 'eu-west-1', plan: 'payg' })).database_id,
    isThere: (at, id) => isListed(at, '/v2/kv/databases', 'database_id', id),
    remove: (at, id) => at.manage('DELETE', `/v2/kv/database/${id}`),
  },
  {
    make: async (at, name) => (await at.manage('POST', '/v2/team', { team_name: name, copy_cc: true })).team_id,
    isThere: (at, id) => isListed(at, '/v2/teams', 'team_id', id),
    remove: (at, id) => at.manage('DELETE', `/v2/team/${id}`),
  },
  {
    make: async (at, name) => (await at.manage('POST', '/v2/apikey', { name })).name,
    isThere: (at, id) => isListed(at, '/v2/apikeys', 'name', id),
    remove: (at, id) => at.manage('DELETE', `/v2/apikey/${encodeURIComponent(id)}`),
  },
  {
    make: async (at, name) => (await at.manage('POST', '/v2/search', { name, region: 'eu-west-1', type: 'payg' })).id,
    isThere: (at, id) => isListed(at, '/v2/search', 'id', id),
    remove: (at, id) => at.manage('DELETE', `/v2/search/${id}`),
  },
];

async function isListed(at: ReadSide, path: string, name: string, id: string): Promise<boolean> {
  const all = (await at.manage('GET', path)) as Listed[];
  return all.some((one) => one[name] === id);
}

describe('read side: own writes through any edge', function () {
  this.timeout(120_000);
  let cluster: ReadSideCluster;
  let sink: QueueSink;
  let edges: readonly [ReadSide, ReadSide];

  before(async () => {
    cluster = await ReadSideCluster.start(true);
    sink = await QueueSink.listening();
    edges = [cluster.through(cluster.owner), cluster.through(cluster.other)];
  });
  after(async () => {
    await sink?.close();
    await cluster?.stop();
  });

  /** Writer and reader, in turn. */
  const pair = (round: number) => (round % 2 === 0 ? edges : ([edges[1], edges[0]] as const));

  it(`are shown immediately, ${ROUNDS} times, for databases, teams, keys and search indexes`, async () => {
    const play = async (rounds: readonly number[]) => {
      for (const round of rounds) await writeAndRead(round);
    };
    for (let from = 0; from < ROUNDS; from += BLOCK) {
      const rounds = Array.from({ length: BLOCK }, (_, at) => from + at);
      const asleep = rounds.slice(0, ASLEEP);
      await cluster.asleep(() => play(asleep));
      await play(rounds.filter((round) => !asleep.includes(round)));
    }
  });

  const kindOf = (round: number) => KINDS[round % KINDS.length] as Kind;

  async function writeAndRead(round: number): Promise<void> {
    // Changes every four rounds, so that each edge makes each kind of write.
    const [writer, reader] = pair(round >> 2);
    const kind = kindOf(round);
    const name = `own ${round}`;
    const id = await kind.make(writer, name);
    expect(await kind.isThere(reader, id), `${name} is there`).to.equal(true);
    await kind.remove(reader, id);
    expect(await kind.isThere(writer, id), `${name} is still there`).to.equal(false);
  }

  async function queue(at: ReadSide, method: string, path: string, headers: Record<string, string> = {}) {
    const answer = await fetch(at.faces.queueUrl + path, {
      method,
      headers: { authorization: `Bearer ${QUEUE_TOKEN}`, ...headers },
    });
    expect(answer.status, `${method} ${path}`).to.be.within(200, 202);
    return answer.json() as Promise<{ messageId: string }>;
  }

  const statesOf = async (at: ReadSide, id: string) =>
    (await at.list('/v2/events', 'events', `messageId=${id}`)).map(({ state }) => state).reverse();

  it(`are in the log of messages, ${LISTS} times, requested while its process is suspended`, async () => {
    for (let round = 0; round < LISTS; round += 1) {
      const [writer, reader] = pair(round);
      await cluster.asleepFor(ASLEEP_MS, async () => {
        const path = `/v2/publish/${sink.url('/later')}`;
        const { messageId } = await queue(writer, 'POST', path, { 'Svc-Delay': '1h' });
        expect(await statesOf(reader, messageId)).to.deep.equal(['CREATED']);
        await queue(reader, 'DELETE', `/v2/messages/${messageId}`);
        expect(await statesOf(writer, messageId)).to.deep.equal(['CREATED', 'CANCEL_REQUESTED', 'CANCELED']);
      });
    }
  });

  it(`are in the list of the DLQ, ${LISTS} times, requested while its process is suspended`, async () => {
    const bad = sink.answer('/bad', { status: 500, body: 'no' });
    for (let made = 0; made < LISTS; made += 1) {
      await queue(edges[0], 'POST', `/v2/publish/${bad}`, { 'Svc-Retries': '0' });
    }
    const dlq = (at: ReadSide) => at.list('/v2/dlq', 'messages', 'count=100');
    const dead = await eventually(async () => {
      const found = await dlq(edges[1]);
      expect(found).to.have.length(LISTS);
      return found;
    });
    for (const [round, { dlqId }] of dead.entries()) {
      const [writer, reader] = pair(round);
      await cluster.asleepFor(ASLEEP_MS, async () => {
        await queue(writer, 'DELETE', `/v2/dlq/${dlqId}`);
        expect((await dlq(reader)).map((one) => one.dlqId)).to.not.include(dlqId);
        expect(await dlq(reader)).to.have.length(LISTS - round - 1);
      });
    }
  });
});
