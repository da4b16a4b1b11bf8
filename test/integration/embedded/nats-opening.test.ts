/** Proves NOP1, NOP2. */
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { lockDataDir } from '../../../src/adapters/nats/embedded/index.js';
import { NatsOpening } from '../../../src/adapters/nats/installation/index.js';
import { loadConfig } from '../../../src/config/index.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLog } from '../../support/recording-log.js';
import { freshDirs, testServer } from './test-server.js';

describe('starting an embedded NATS in advance', function () {
  this.timeout(60_000);
  const fresh = freshDirs();
  let binary: string;

  before(async function () {
    this.timeout(300_000);
    binary = (await testServer()).path;
  });

  function begin(server = binary): { readonly opening: NatsOpening; readonly log: RecordingLog } {
    const log = new RecordingLog();
    const { config } = loadConfig({ MILLRACE_DATA_DIR: fresh.dir, MILLRACE_NATS_SERVER: server });
    return { opening: new NatsOpening(config, log), log };
  }

  async function mustBeFree(): Promise<void> {
    (await lockDataDir(fresh.dir)).release();
    expect(existsSync(join(fresh.dir, 'nats', 'client.json'))).to.equal(false);
  }

  it('begins before it is needed, and gives the server to its caller', async () => {
    const { opening } = begin();
    await opening.launched;
    await eventually(() => expect(existsSync(join(fresh.dir, 'layout.json'))).to.equal(true));
    const nats = await opening.take();
    expect(nats.check()).to.deep.equal({ ok: true });
    await opening.giveUp();
    expect(nats.check()).to.deep.equal({ ok: true });
    await nats.close();
    await mustBeFree();
  });

  it('ends a server that was never taken, at every stage (NOP1)', async () => {
    const steps = [() => Promise.resolve(), (o: NatsOpening) => o.launched, (o: NatsOpening) => o.asked];
    for (const step of steps) {
      const { opening } = begin();
      await step(opening);
      await opening.giveUp();
      await mustBeFree();
    }
  });

  it('fails for the caller, and releases the directory (NOP1)', async () => {
    const { opening } = begin('/bin/true');
    await Promise.all([opening.launched, opening.asked]);
    await opening.take().then(
      () => expect.fail('it has no server'),
      (error: unknown) => expect(error).to.have.property('code', 'BAD_CONFIG'),
    );
    await mustBeFree();
  });

  it('does not start over a directory with an incomplete restore, and logs no line (NOP2)', async () => {
    await writeFile(join(fresh.dir, 'restore.json'), JSON.stringify({ format: 1, state: 'running' }));
    const { opening, log } = begin();
    await opening.take().then(
      () => expect.fail('half of it is there'),
      (error: unknown) =>
        expect(error)
          .to.have.property('message')
          .that.matches(/did not finish/),
    );
    await opening.giveUp();
    expect(log.lines).to.deep.equal([]);
    expect(readdirSync(fresh.dir)).to.deep.equal(['restore.json']);
  });
});
