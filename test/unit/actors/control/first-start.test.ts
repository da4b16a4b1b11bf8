/** Proves FS1–FS3. */
import { expect } from 'chai';
import { type CredentialsKeeper, type FirstStartOptions, firstStart } from '../../../../src/actors/control/index.js';
import { NodeRandom } from '../../../../src/adapters/node/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import { completeCredentials, type FirstStartCredentials, hashSecret } from '../../../../src/protocol/index.js';
import { LIMITS } from '../../../spec/control/given.js';
import { MemoryControl, namedSealing } from '../../../support/memory-control.js';

const random = new NodeRandom();

class MemoryKeeper implements CredentialsKeeper {
  file: FirstStartCredentials | undefined;
  async prepare() {
    const isNew = this.file === undefined;
    this.file ??= completeCredentials({}, random);
    return { credentials: this.file, isNew };
  }
  async replace(credentials: FirstStartCredentials) {
    this.file = credentials;
  }
  async remove() {
    this.file = undefined;
  }
}

function options(
  client: FirstStartOptions['client'],
  keeper: CredentialsKeeper,
  over: Partial<FirstStartOptions> = {},
) {
  const base = { client, keeper, random, sealing: namedSealing(), given: {}, limits: LIMITS };
  return { ...base, pause: async () => undefined, ...over };
}

describe('the first start', () => {
  it('prints credentials that are in force, once', async () => {
    const control = new MemoryControl();
    const keeper = new MemoryKeeper();
    const { toPrint, database } = await firstStart(options(control, keeper));
    expect(toPrint).to.deep.equal(keeper.file);
    expect(control.state.tokens.get(hashSecret(toPrint!.kvToken))).to.deep.equal({
      database: database.id,
      role: 'standard',
    });
    const again = await firstStart(options(control, keeper));
    expect(again).to.deep.include({ toPrint: undefined, warnings: [] });
    expect(control.state.databases.size).to.equal(1);
  });

  it('journals no command before its credentials are in the file (FS1)', async () => {
    const control = new MemoryControl();
    let write = () => {};
    const keeper = new MemoryKeeper();
    const { prepare } = keeper;
    keeper.prepare = async () => {
      await new Promise<void>((resolve) => {
        write = resolve;
      });
      return prepare.call(keeper);
    };
    const killed: FirstStartOptions['client'] = {
      send: async (command) => {
        expect(keeper.file).not.to.equal(undefined);
        await control.send(command);
        throw new MillraceError('DEFECT', 'the process ends here');
      },
    };
    const start = firstStart(options(killed, keeper)).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    expect(control.asked).to.deep.equal([]);
    write();
    expect(await start).to.have.property('code', 'DEFECT');
    // The credentials in the file match those that were journaled before the crash.
    const token = hashSecret((keeper.file as FirstStartCredentials).kvToken);
    expect(control.state.tokens.get(token)?.role).to.equal('standard');
    const again = new MemoryKeeper();
    again.file = keeper.file;
    expect(await firstStart(options(control, again))).to.deep.include({ warnings: [] });
    expect(again.file).to.equal(keeper.file);
  });

  it('writes no secret in clear text to the journal', async () => {
    const control = new MemoryControl();
    const keeper = new MemoryKeeper();
    await firstStart(options(control, keeper));
    const { mgmtEmail: _, ...secrets } = keeper.file!;
    const journaled = JSON.stringify(control.asked);
    for (const secret of Object.values(secrets)) expect(journaled).to.not.contain(secret);
  });

  it('of two processes at the same time leaves the credentials of the first in both files, and prints them once', async () => {
    const control = new MemoryControl();
    const keepers = [new MemoryKeeper(), new MemoryKeeper()];
    const outcomes = await Promise.all(keepers.map((keeper) => firstStart(options(control, keeper))));
    expect(outcomes.map(({ toPrint }) => toPrint !== undefined)).to.deep.equal([true, false]);
    expect(keepers[1]!.file).to.deep.equal(keepers[0]!.file);
  });

  it('removes its file and warns when the first process sealed with another key', async () => {
    const control = new MemoryControl();
    await firstStart(options(control, new MemoryKeeper()));
    const keeper = new MemoryKeeper();
    const { toPrint, warnings } = await firstStart(options(control, keeper, { sealing: namedSealing('other') }));
    expect(toPrint).to.equal(undefined);
    expect(keeper.file).to.equal(undefined);
    expect(warnings).to.have.length(1);
  });

  it('replaces a file of credentials that never came into force, and keeps one in force', async () => {
    const control = new MemoryControl();
    const winner = new MemoryKeeper();
    const { database } = await firstStart(options(control, winner));
    const loser = new MemoryKeeper();
    // The process was killed after it wrote its file and before it learned that another one was first.
    loser.file = completeCredentials({}, random);
    await firstStart(options(control, loser));
    expect(loser.file).to.deep.equal(winner.file);
    const { file } = winner;
    const secrets = { sha256: 'x', sealed: 'x' };
    const reset = { standardToken: secrets, readOnlyToken: { ...secrets, sha256: 'y' }, password: secrets };
    await control.send({ type: 'ResetPassword', database: database.id, secrets: reset });
    await firstStart(options(control, winner));
    expect(winner.file).to.equal(file);
  });

  it('asks again with the same ids until it is answered, and recognises its own database', async () => {
    const control = new MemoryControl();
    let tries = 0;
    const flaky: FirstStartOptions['client'] = {
      send: async (command) => {
        tries += 1;
        if (tries === 1) throw new MillraceError('SHARD_UNAVAILABLE', 'no owner yet');
        const reply = await control.send(command);
        if (tries === 2) throw new MillraceError('OUTCOME_UNKNOWN', 'lost');
        return reply;
      },
    };
    const { toPrint } = await firstStart(options(flaky, new MemoryKeeper()));
    expect(tries).to.equal(3);
    expect(toPrint).to.not.equal(undefined);
  });

  it('warns, in a line each without the value, when other credentials are given later', async () => {
    const control = new MemoryControl();
    const keeper = new MemoryKeeper();
    await firstStart(options(control, keeper));
    const given = { kvToken: 'something-else', mgmtEmail: 'other@b.example', mgmtKey: keeper.file!.mgmtKey };
    const { warnings } = await firstStart(options(control, keeper, { given }));
    expect(warnings.map((line) => line.split(' ')[0])).to.deep.equal(['MILLRACE_KV_TOKEN', 'MILLRACE_MGMT_EMAIL']);
    expect(warnings.join()).to.not.contain('something-else');
  });

  it('ends with one line when the given credentials cannot be used', async () => {
    const keeper = new MemoryKeeper();
    keeper.file = completeCredentials({ kvToken: 'same-for-both', kvReadonlyToken: 'same-for-both' }, random);
    const error = await firstStart(options(new MemoryControl(), keeper)).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(MillraceError).with.property('code', 'BAD_CONFIG');
  });
});
