import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeNatsUsers } from '../../../src/adapters/nats/installation/index.js';
import { rightsOf } from '../../../src/adapters/nats/rights.js';
import { NATS_USERS, Names } from '../../../src/adapters/nats/subjects.js';
import { directoryOf } from '../../support/stand-hooks.js';

const COUNTS = { kvShards: 2, queueShards: 2 };

describe('the rights of NATS users', () => {
  const names = new Names('');

  it('allow every topic to its publishers and subscribers, and none to the system account (NRI4)', () => {
    for (const kind of ['command', 'session', 'edge', 'heartbeat', 'query', 'search', 'access', 'notice'] as const) {
      for (const side of ['publish', 'subscribe'] as const) {
        const having = NATS_USERS.filter((user) => rightsOf(user, names, COUNTS)[side].includes(names.allTopics(kind)));
        expect(having, `${side} ${kind}`).to.include('process').and.not.to.include('system');
        expect(having.length, `${side} ${kind}`).to.be.greaterThan(1);
      }
    }
  });

  it('let owners alone append to journals, and name each journal (NRI1)', () => {
    const appending = (log: string) =>
      NATS_USERS.filter((user) => rightsOf(user, names, COUNTS).publish.includes(`millrace.log.${log}`));
    expect(appending('KV_1')).to.deep.equal(['owner', 'process']);
    expect(appending('CONTROL')).to.deep.equal(['owner', 'process']);
    expect(appending('INTAKE_1')).to.deep.equal(['edge', 'process']);
    expect(appending('METER')).to.deep.equal(['edge', 'owner', 'process']);
    expect(appending('>')).to.deep.equal(['operator']);
    expect(appending('KV_2')).to.deep.equal([]);
  });

  it('exclude installations with another prefix, except the descriptions and contents of their streams', () => {
    for (const user of ['edge', 'owner', 'projection', 'process', 'operator'] as const) {
      const { publish } = rightsOf(user, new Names('a'), COUNTS);
      const others = publish.filter((subject) => !/^(a\.millrace\.|\$KV\.a_|\$O\.a_|_INBOX\.millrace\.)/.test(subject));
      for (const subject of others) expect(subject).to.match(/^\$JS\.(API\.|FC\.>$)/);
    }
  });
});

describe('the files of NATS users', () => {
  const dir = directoryOf('each test');
  const write = () => writeNatsUsers(dir.path, new Names(''), COUNTS);
  const seedOf = (file: string) => readFile(join(dir.path, file), 'utf8');
  const configuration = () => seedOf('accounts.conf');
  const keysIn = (text: string) => [...text.matchAll(/"nkey": "(U\w+)"/g)].map(([, key]) => key);

  it('are created once, readable by us alone (NU1), and give servers no secret (NU3)', async () => {
    expect(await write()).to.equal(join(dir.path, 'accounts.conf'));
    const files = await readdir(dir.path);
    expect(files.sort()).to.deep.equal([...NATS_USERS.map((user) => `${user}.nk`), 'accounts.conf'].sort());
    const seeds = await Promise.all(NATS_USERS.map((user) => seedOf(`${user}.nk`)));
    for (const user of NATS_USERS) expect((await stat(join(dir.path, `${user}.nk`))).mode & 0o777).to.equal(0o600);
    const before = await configuration();
    expect(keysIn(before)).to.have.length(NATS_USERS.length);
    for (const seed of seeds) expect(before).not.to.contain(seed.trim());
    await write();
    expect(await configuration()).to.equal(before);
  });

  it('allow a user two keys during a rotation (NU2)', async () => {
    await write();
    const before = keysIn(await configuration());
    await rename(join(dir.path, 'edge.nk'), join(dir.path, 'edge.former.nk'));
    await write();
    const during = keysIn(await configuration());
    expect(during)
      .to.include.members(before)
      .and.to.have.length(before.length + 1);
    await rm(join(dir.path, 'edge.former.nk'));
    await write();
    const after = keysIn(await configuration());
    expect(after).to.have.length(before.length);
    expect(during).to.include.members(after);
    expect(after).not.to.have.members(before);
  });

  it('are refused with the name of a file that is no seed', async () => {
    await writeFile(join(dir.path, 'edge.nk'), 'no seed\n');
    let message = '';
    await write().catch((error: unknown) => {
      message = String(error);
    });
    expect(message).to.contain(`${join(dir.path, 'edge.nk')} does not hold the seed of an nkey`);
  });
});
