/** The history of an account's queue, from the command line. */
import { expect } from 'chai';
import { encodeQueueEvent } from '../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../src/domain/queue/index.js';
import { MillraceError, type PartitionName } from '../../../src/kernel/index.js';
import { typedJournal } from '../../support/command-lines.js';
import { journalTools } from '../../support/journal-tools.js';
import { JournalStand } from './journal-stand.js';
import { ALPHA, SHARD, silentLog } from './shard-history.js';

const ACCOUNT = 'ac-aaaaaaaaaaaaaaaa';
const QUEUE = `queue:${ACCOUNT}` as PartitionName;

async function append(world: JournalStand, ...events: readonly QueueEvent[]): Promise<void> {
  const section = world.history.section(QUEUE, Buffer.concat(events.map(encodeQueueEvent)));
  await world.history.append({ kind: 'batch', commandIds: [], sections: [section] });
}

async function run(world: JournalStand, words: string): Promise<{ code: number; out: string; errors: string }> {
  let out = '';
  let errors = '';
  const code = await typedJournal(words.split(' '), {
    ...journalTools(SHARD),
    journal: world.journal,
    objects: world.objects,
    log: silentLog,
    signal: new AbortController().signal,
    resolveDatabase: async () => ({ partitions: [ALPHA], shards: [SHARD] }),
    resolveAccount: async (id) => {
      if (id !== ACCOUNT) throw new MillraceError('NOT_FOUND', `there is no account ${id}`);
      return { partitions: [QUEUE], shards: [SHARD] };
    },
    write: (output) => {
      out += String(output);
    },
    writeError: (line) => {
      errors += line;
    },
  });
  return { code, out, errors };
}

async function liveQueue(): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  await append(
    world,
    { type: 'QueueSet', name: 'mail', parallelism: 2, isPaused: false, atMs: 5 },
    { type: 'FlowPaused', key: 'ż', isPaused: true, atMs: 6 },
  );
  await world.history.batch({ [ALPHA]: ['SET a 1'] });
  await append(world, { type: 'QueueDeleted', name: 'mail', atMs: 7 });
  return world;
}

describe('the journal of an account', () => {
  it('comes as a line for each section of its queue, its effects the events by their names', async () => {
    const { code, out } = await run(await liveQueue(), `export --account ${ACCOUNT}`);
    expect(code).to.equal(0);
    const lines = out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    expect(lines.map(({ index, partition, effects }) => ({ index, partition, effects }))).to.deep.equal([
      {
        index: 1,
        partition: QUEUE,
        effects: [
          { type: 'QueueSet', name: 'mail', parallelism: 2, isPaused: false, atMs: 5 },
          { type: 'FlowPaused', key: 'ż', isPaused: true, atMs: 6 },
        ],
      },
      { index: 2, partition: QUEUE, effects: [{ type: 'QueueDeleted', name: 'mail', atMs: 7 }] },
    ]);
  });

  it('loses no byte: what is not UTF-8 is base64, and text is text', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const snapshotEvent = (packed: Uint8Array): QueueEvent => ({ type: 'AcceptedIdsRestored', generation: 1, packed });
    await append(world, snapshotEvent(Buffer.from('text')), snapshotEvent(Uint8Array.of(0xff, 0x00)));
    const { out } = await run(world, `export --account ${ACCOUNT}`);
    const [text, binary] = JSON.parse(out).effects;
    expect([text.packed, binary.packed]).to.deep.equal(['text', { base64: '/wA=' }]);
  });

  it('proves itself', async () => {
    const { code, out } = await run(await liveQueue(), `verify --account ${ACCOUNT}`);
    expect(code).to.equal(0);
    expect(out).to.include(`${QUEUE}: 2 sections, the last is 2\nok\n`);
  });

  it('stops at effects that are no events, with 1', async () => {
    const world = await liveQueue();
    await world.history.append({
      kind: 'batch',
      commandIds: [],
      sections: [world.history.section(QUEUE, Buffer.from('nonsense'))],
    });
    expect((await run(world, `export --account ${ACCOUNT}`)).code).to.equal(1);
  });

  for (const [what, words, error] of [
    ['of an account that is not there', 'export --account ac-zzzzzzzzzzzzzzzz', 'there is no account'],
    ['of both a database and an account', `export --account ${ACCOUNT} --database mine`, 'not both'],
    ['of an account without a name', 'export --account=', '--account is missing'],
    ['of an account as RESP', `export --account ${ACCOUNT} --format resp`, 'no RESP form'],
    ['of nobody', 'verify', '--database is missing'],
  ] as const) {
    it(`is asked wrongly when it is asked for ${what}`, async () => {
      const { code, errors } = await run(await liveQueue(), words);
      expect(code).to.equal(2);
      expect(errors).to.include(error);
    });
  }
});
