/** The history of an account's queue, from the command line. */
import { expect } from 'chai';
import { encodeQueueEvent } from '../../../src/codec/queue/index.js';
import type { QueueEvent } from '../../../src/domain/queue/index.js';
import { MillraceError, type PartitionName } from '../../../src/kernel/index.js';
import { typedJournal } from '../../support/command-lines.js';
import { journalTools } from '../../support/journal-tools.js';
import { silentLog } from '../../support/silent-log.js';
import { JournalStand } from './journal-stand.js';
import { ALPHA, SHARD } from './shard-history.js';

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

describe('the journal commands with --account', () => {
  it('export prints a line for each section of the queue, with its events by name', async () => {
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

  it('export loses no byte: bytes that are not UTF-8 are base64, and text is text', async () => {
    const world = new JournalStand();
    await world.history.claim();
    const snapshotEvent = (packed: Uint8Array): QueueEvent => ({ type: 'AcceptedIdsRestored', generation: 1, packed });
    await append(world, snapshotEvent(Buffer.from('text')), snapshotEvent(Uint8Array.of(0xff, 0x00)));
    const { out } = await run(world, `export --account ${ACCOUNT}`);
    const [text, binary] = JSON.parse(out).effects;
    expect([text.packed, binary.packed]).to.deep.equal(['text', { base64: '/wA=' }]);
  });

  it('verify confirms the chain', async () => {
    const { code, out } = await run(await liveQueue(), `verify --account ${ACCOUNT}`);
    expect(code).to.equal(0);
    expect(out).to.include(`${QUEUE}: 2 sections, the last is 2\nok\n`);
  });

  it('export stops at effects that are no events, with exit code 1', async () => {
    const world = await liveQueue();
    await world.history.append({
      kind: 'batch',
      commandIds: [],
      sections: [world.history.section(QUEUE, Buffer.from('nonsense'))],
    });
    expect((await run(world, `export --account ${ACCOUNT}`)).code).to.equal(1);
  });

  for (const [mistake, words, error] of [
    ['an unknown account', 'export --account ac-zzzzzzzzzzzzzzzz', 'there is no account'],
    ['both a database and an account', `export --account ${ACCOUNT} --database mine`, 'exclude each other'],
    ['--account without a name', 'export --account=', '--account is missing'],
    ['an account in RESP format', `export --account ${ACCOUNT} --format resp`, 'cannot be exported as RESP'],
    ['neither database nor account', 'verify', '--database is missing'],
  ] as const) {
    it(`are refused for ${mistake}`, async () => {
      const { code, errors } = await run(await liveQueue(), words);
      expect(code).to.equal(2);
      expect(errors).to.include(error);
    });
  }
});
