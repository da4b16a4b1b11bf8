/** The streams that an installation declares, and their names. Proves NS1–NS3, SU2, SU3. */
import { expect } from 'chai';
import { declareStreams } from '../../../src/adapters/nats/streams.js';
import { Names } from '../../../src/adapters/nats/subjects.js';

const COUNTS = { kvShards: 3, queueShards: 2, replicas: 1 };

describe('streams of an installation', () => {
  const declared = (prefix: string) => declareStreams(new Names(prefix), COUNTS).map(({ config }) => config);
  const namesOf = (prefix: string) => declared(prefix).map(({ name }) => name);
  const subjectsOf = (prefix: string) => declared(prefix).flatMap(({ subjects }) => subjects);

  it('let nothing leave a journal by age, by count or by rollup', () => {
    for (const config of declared('').filter(({ name }) => /^(KV|QUEUE|INTAKE)_\d|^CONTROL$|^METER$/.test(name))) {
      expect(config, config.name).to.include({ max_age: 0, max_msgs: -1, max_msgs_per_subject: -1 });
      expect(config, config.name).to.include({ allow_rollup_hdrs: false, deny_delete: true, retention: 'limits' });
    }
    expect(declared('')).to.have.length(3 + 2 + 2 + 2 + 2);
  });

  it('refuse what is new when they are full, and reserve no disk', () => {
    for (const config of declared('')) expect(config, config.name).to.include({ discard: 'new', max_bytes: -1 });
  });

  it('have each a name and subjects of its own, also beside those of another prefix', () => {
    const names = [...namesOf(''), ...namesOf('a'), ...namesOf('a-b')];
    expect(new Set(names).size).to.equal(names.length);
    const subjects = [...subjectsOf(''), ...subjectsOf('a'), ...subjectsOf('a-b')];
    expect(new Set(subjects).size).to.equal(subjects.length);
  });
});
