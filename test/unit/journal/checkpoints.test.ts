/** Proves CHK1, CHK2. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import {
  type CheckpointStatement,
  checkpointOf,
  fingerprintOf,
  readCheckpoint,
  signCheckpoint,
} from '../../../src/journal/index.js';
import { JournalStand } from '../../spec/journal/journal-stand.js';
import { ALPHA, BETA, CLUSTER, SHARD } from '../../spec/journal/shard-history.js';

const { privateKey } = generateKeyPairSync('ed25519');

async function worldOf(): Promise<JournalStand> {
  const world = new JournalStand();
  await world.history.claim();
  await world.history.batch({ [ALPHA]: ['SET a 1'], [BETA]: ['SET b 1'] });
  await world.history.batch({ [ALPHA]: ['SET a 2'] });
  return world;
}

async function statementOf(world: JournalStand): Promise<CheckpointStatement> {
  const shards = [await checkpointOf(world.ports, SHARD)];
  return { clusterId: CLUSTER, takenAt: '2026-05-01T00:00:00.000Z', shards };
}

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

describe('a checkpoint', () => {
  it('contains the last entry of a shard and the chain head of each partition', async () => {
    const world = await worldOf();
    const { head } = world.history;
    const links = world.history.links();
    expect(await checkpointOf(world.ports, SHARD)).to.deep.include({
      shard: SHARD,
      number: 3,
      position: 3,
      hash: hex(head.hash),
      epoch: 1,
      partitions: [
        { name: ALPHA, index: 2, hash: hex(links.get(ALPHA)?.hash) },
        { name: BETA, index: 1, hash: hex(links.get(BETA)?.hash) },
      ],
    });
  });

  it('contains the same after the front was truncated', async () => {
    const world = await worldOf();
    for (let i = 0; i < 2; i += 1) {
      await world.compactAndPurge();
      await world.history.batch({ [ALPHA]: ['SET a 3'] });
    }
    expect((await world.memoryJournal.tail(SHARD)).first).to.be.greaterThan(1);
    const { number, partitions } = await checkpointOf(world.ports, SHARD);
    expect(number).to.equal(5);
    expect(partitions.map(({ index, hash }) => [index, hash])).to.deep.equal([
      [4, hex(world.history.links().get(ALPHA)?.hash)],
      [1, hex(world.history.links().get(BETA)?.hash)],
    ]);
  });

  it('of an empty journal contains no entry', async () => {
    expect(await checkpointOf(new JournalStand().ports, SHARD)).to.deep.include({
      number: 0,
      position: 0,
      partitions: [],
    });
  });

  it('is not made of a damaged journal', async () => {
    const world = await worldOf();
    await world.history.append({ kind: 'claim', clusterId: CLUSTER }, { number: 9 });
    const error = await checkpointOf(world.ports, SHARD).catch((cause: Error) => cause);
    expect(error).to.have.property('code', 'JOURNAL_DAMAGED');
  });

  it('is read back with the fingerprint of the key that signed it', async () => {
    const statement = await statementOf(await worldOf());
    const read = readCheckpoint(signCheckpoint(statement, privateKey));
    expect(read.statement).to.deep.equal(statement);
    const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
    expect(read.fingerprint)
      .to.equal(fingerprintOf(spki))
      .and.match(/^[0-9a-f]{32}$/);
  });

  it('is refused when a character of its statement, key or signature was changed', async () => {
    const text = signCheckpoint(await statementOf(await worldOf()), privateKey);
    const file = JSON.parse(text) as { statement: CheckpointStatement; publicKey: string; signature: string };
    const [shard] = file.statement.shards;
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const changed = [
      { ...file, statement: { ...file.statement, clusterId: 'other' } },
      { ...file, statement: { ...file.statement, shards: [{ ...shard, number: 2 }] } },
      { ...file, statement: { ...file.statement, shards: [] } },
      { ...file, publicKey: other },
      { ...file, signature: Buffer.alloc(64).toString('base64') },
    ];
    for (const one of changed) {
      expect(() => readCheckpoint(JSON.stringify(one))).to.throw('changed after it was signed');
    }
    // White space is not part of the signed content.
    expect(readCheckpoint(JSON.stringify(file)).statement.clusterId).to.equal(CLUSTER);
  });

  it('is refused when the file has another format', () => {
    for (const text of ['', '[]', 'null', '{"format":"other"}', '{"format":"millrace-checkpoint-1","statement":{}}']) {
      expect(() => readCheckpoint(text), text).to.throw(/checkpoint/);
    }
    const keyless = { format: 'millrace-checkpoint-1', statement: { shards: [] }, publicKey: 'AAAA', signature: '' };
    expect(() => readCheckpoint(JSON.stringify(keyless))).to.throw('the checkpoint has no valid public key');
  });
});
