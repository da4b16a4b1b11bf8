/** One word, one thing: no two exported classes, interfaces, types or constants share a name. */
import { expect } from 'chai';
import { sources, textOf } from '../support/import-graph.js';

const DECLARED = /^export (?:declare |abstract |async )*(?:class|interface|type|const|enum|function\*?) ([A-Z]\w*)/gm;

describe('exported names', () => {
  const files = new Map<string, Set<string>>();
  for (const file of sources()) {
    for (const [, name = ''] of textOf(file).matchAll(DECLARED)) {
      files.set(name, (files.get(name) ?? new Set()).add(file));
    }
  }

  it('mean one thing each', () => {
    expect([...files].filter(([, homes]) => homes.size > 1).map(([name, homes]) => [name, ...homes])).to.deep.equal([]);
  });

  it('say what a thing is, not that it is a slot, a room, a world or facts', () => {
    // The protocol of a Redis cluster calls them hash slots.
    const allowed = ['HASH_SLOTS'];
    const vague = [...files.keys()].filter(
      (name) => /(Slot|Room|World|Facts)s?(?![a-z])|_(SLOT|ROOM|WORLD|FACTS)/.test(name) && !allowed.includes(name),
    );
    expect(vague).to.deep.equal([]);
  });
});
