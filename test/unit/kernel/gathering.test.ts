/** Members that are added and removed. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Gathered, Gathering } from '../../../src/kernel/index.js';

interface Member extends Gathered {
  readonly name: number;
}

describe('a gathering', () => {
  it('contains the members that were added and not removed, like a Set', () => {
    const change = fc.record({ name: fc.nat(9), comes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
        const members: Member[] = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }));
        const gathering = new Gathering<Member>();
        const expected = new Set<number>();
        for (const { name, comes } of changes) {
          const member = members[name] as Member;
          if (!comes) expect(gathering.delete(member)).to.equal(expected.delete(name));
          else if (!expected.has(name)) {
            gathering.add(member);
            expected.add(name);
          }
          expect(gathering.size).to.equal(expected.size);
          expect(gathering.all().map((each) => each.name)).to.have.members([...expected]);
        }
      }),
    );
  });

  it('allows members to be removed during iteration, and to be cleared', () => {
    const gathering = new Gathering<Gathered>();
    const members = Array.from({ length: 5 }, () => ({ place: -1 }));
    for (const member of members) gathering.add(member);
    for (const member of gathering.all()) expect(gathering.delete(member)).to.equal(true);
    expect(gathering.size).to.equal(0);
    for (const member of members) gathering.add(member);
    gathering.clear();
    for (const member of members) expect(gathering.delete(member)).to.equal(false);
  });
});
