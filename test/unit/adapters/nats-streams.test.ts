/** The streams that an installation declares, and their names. Proves NS1–NS3, SU1–SU3. */
import { expect } from 'chai';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import { inboxPrefix, Names } from '../../../src/adapters/nats/subjects.js';
import { isMillraceError, type SessionId, type ShardName } from '../../../src/kernel/index.js';

const COUNTS = { kvShards: 3, queueShards: 2, replicas: 1 };

describe('the streams of an installation', () => {
  const declared = (prefix: string) => declareStreams(new Names(prefix), COUNTS).map(({ config }) => config);
  const namesOf = (prefix: string) => declared(prefix).map(({ name }) => name);
  const subjectsOf = (prefix: string) => declared(prefix).flatMap(({ subjects }) => subjects);

  it('remove no message of a journal by age, count or rollup', () => {
    for (const config of declared('').filter(({ name }) => /^(KV|QUEUE|INTAKE)_\d|^CONTROL$|^METER$/.test(name))) {
      expect(config, config.name).to.include({ max_age: 0, max_msgs: -1, max_msgs_per_subject: -1 });
      expect(config, config.name).to.include({ allow_rollup_hdrs: false, deny_delete: true, retention: 'limits' });
    }
    expect(declared('')).to.have.length(3 + 2 + 2 + 2 + 2);
  });

  it('refuse new messages when they are full, and reserve no disk', () => {
    for (const config of declared('')) expect(config, config.name).to.include({ discard: 'new', max_bytes: -1 });
  });

  it('have distinct names and subjects, also across prefixes', () => {
    const names = [...namesOf(''), ...namesOf('a'), ...namesOf('a-b')];
    expect(new Set(names).size).to.equal(names.length);
    const subjects = [...subjectsOf(''), ...subjectsOf('a'), ...subjectsOf('a-b')];
    expect(new Set(subjects).size).to.equal(subjects.length);
  });
});

describe('names on a server', () => {
  const names = new Names('a');
  const FOREIGN = ['', ' ', 'a b', 'a.b', '*', 'a*', '>', 'ä', 'a\n', 'a\r\nPUB x', 'x'.repeat(129)];

  it('are made of known shards, sessions and words: any other text is refused (SU1)', () => {
    const makers: Record<string, (text: string) => string> = {
      journalStream: (text) => names.journalStream(text as ShardName),
      journalSubject: (text) => names.journalSubject(text as ShardName),
      command: (text) => names.topic({ kind: 'command', shard: text as ShardName }),
      notice: (text) => names.topic({ kind: 'notice', shard: text as ShardName }),
      session: (text) => names.topic({ kind: 'session', session: text as SessionId }),
      edge: (text) => names.topic({ kind: 'edge', session: text as SessionId }),
      bulk: (text) => names.bulkSubject('edge', text),
      chunk: (text) => names.objectChunkSubject(text),
      inbox: (text) => inboxPrefix('edge', text),
    };
    for (const [what, make] of Object.entries(makers)) {
      expect(make('KV_0-a'), what).to.match(/[._-]KV_0-a$/);
      for (const text of FOREIGN) expectDefect(() => make(text), `${what} of ${JSON.stringify(text)}`);
    }
    // Keys of leases have levels, like a session's.
    expect(names.bucketKeySubject('leases', 'shard.KV_0')).to.equal('$KV.a_leases.shard.KV_0');
    for (const key of ['', ' ', 'a b', 'a..b', '.a', 'a.', '*', 'a.*', '>', 'ä', 'a\n']) {
      expectDefect(() => names.bucketKeySubject('leases', key), JSON.stringify(key));
    }
  });

  it('encode any object name as one word (SU1)', () => {
    const root = '$O.a_snapshots.M.';
    for (const object of FOREIGN.slice(1)) {
      const subject = names.objectDescriptionSubject(object);
      expect(subject.slice(0, root.length)).to.equal(root);
      expect(subject.slice(root.length)).to.match(/^[A-Za-z0-9_=-]+$/);
      expect(names.nameOfDescriptionSubject(subject)).to.equal(object);
    }
    expectDefect(() => names.objectDescriptionSubject(''), 'no name');
  });

  function expectDefect(make: () => string, what: string): void {
    let failure: unknown;
    try {
      make();
    } catch (error) {
      failure = error;
    }
    expect(isMillraceError(failure, 'DEFECT'), what).to.equal(true);
  }
});
