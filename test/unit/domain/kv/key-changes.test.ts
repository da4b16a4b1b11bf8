import { expect } from 'chai';
import { ChangedKeys, KeyChanges, MAX_NOTED_KEYS, MAX_WATCHED_BYTES } from '../../../../src/domain/kv/key-changes.js';

describe('watched keys', () => {
  it('have not changed until they are written', () => {
    const changes = new KeyChanges();
    const mark = changes.watch('a');
    changes.note('b');
    expect(changes.hasChangedSince('a', mark)).to.equal(false);
    changes.note('a');
    expect(changes.hasChangedSince('a', mark)).to.equal(true);
  });

  it('are bounded by bytes: the oldest is forgotten, and counts as changed', () => {
    const changes = new KeyChanges();
    const name = 'x'.repeat(MAX_WATCHED_BYTES / 4 - 100);
    const mark = changes.watch('oldest');
    for (const first of 'abcd') changes.watch(first + name);
    expect(changes.hasChangedSince('oldest', mark)).to.equal(false);
    changes.watch(`e${name}`);
    expect(changes.hasChangedSince('oldest', mark)).to.equal(true);
    expect(changes.hasChangedSince(`e${name}`, mark)).to.equal(false);
  });

  it('may have a name as long as the bound', () => {
    const changes = new KeyChanges();
    const long = 'x'.repeat(MAX_WATCHED_BYTES);
    const mark = changes.watch(long);
    expect(changes.hasChangedSince(long, mark)).to.equal(false);
  });
});

describe('keys changed in a turn', () => {
  it('are all known, even if there are very many', () => {
    const changed = new ChangedKeys();
    for (let i = 0; i <= MAX_NOTED_KEYS; i += 1) changed.add(`k${i}`);
    expect([changed.has('k0'), changed.has(`k${MAX_NOTED_KEYS}`), changed.has('other')]).to.deep.equal([
      true,
      true,
      false,
    ]);
    changed.add('other');
    expect(changed.has('other')).to.equal(true);
  });

  it('are empty once they are cleared', () => {
    const changed = new ChangedKeys();
    expect(changed.isEmpty).to.equal(true);
    changed.add('asked');
    expect(changed.has('asked')).to.equal(true);
    changed.add('noted');
    expect(changed.isEmpty).to.equal(false);
    changed.clear();
    expect([changed.isEmpty, changed.has('asked'), changed.has('noted')]).to.deep.equal([true, false, false]);
  });
});
