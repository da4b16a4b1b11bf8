import { expect } from 'chai';
import { KeyChanges, MAX_WATCHED_BYTES } from '../../../../src/domain/kv/key-changes.js';

describe('watched keys', () => {
  it('have not changed until somebody writes them', () => {
    const changes = new KeyChanges();
    const mark = changes.watch('a');
    changes.note('b');
    expect(changes.hasChangedSince('a', mark)).to.equal(false);
    changes.note('a');
    expect(changes.hasChangedSince('a', mark)).to.equal(true);
  });

  it('are counted by their bytes: the oldest is forgotten, and counts as changed', () => {
    const changes = new KeyChanges();
    const name = 'x'.repeat(MAX_WATCHED_BYTES / 4 - 100);
    const mark = changes.watch('oldest');
    for (const first of 'abcd') changes.watch(first + name);
    expect(changes.hasChangedSince('oldest', mark)).to.equal(false);
    changes.watch(`e${name}`);
    expect(changes.hasChangedSince('oldest', mark)).to.equal(true);
    expect(changes.hasChangedSince(`e${name}`, mark)).to.equal(false);
  });

  it('may have a name as long as all the room there is', () => {
    const changes = new KeyChanges();
    const long = 'x'.repeat(MAX_WATCHED_BYTES);
    const mark = changes.watch(long);
    expect(changes.hasChangedSince(long, mark)).to.equal(false);
  });
});
