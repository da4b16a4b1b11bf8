/**
 * No two exported classes, interfaces, types or constants share a name. The console is a separate program with
 * separate names.
 */
import { expect } from 'chai';
import { sources, textOf } from '../support/import-graph.js';

const DECLARED = /^export (?:declare |abstract |async )*(?:class|interface|type|const|enum|function\*?) ([A-Z]\w*)/gm;

describe('exported names', () => {
  const isOfConsole = (file: string) => file.startsWith('console/');
  const programs = [sources().filter(isOfConsole), sources().filter((file) => !isOfConsole(file))].map(homesOf);

  it('have one meaning each', () => {
    const shared = programs.flatMap((homes) => [...homes].filter(([, files]) => files.length > 1));
    expect(shared.map(([name, files]) => [name, ...files])).to.deep.equal([]);
  });

  it('name a thing, not a slot, a room, a world, a face or facts', () => {
    // The protocol of a Redis cluster calls them hash slots.
    const allowed = ['HASH_SLOTS'];
    const vague = programs
      .flatMap((homes) => [...homes.keys()])
      .filter(
        (name) =>
          /(Slot|Room|World|Face|Facts)s?(?![a-z])|_(SLOT|ROOM|WORLD|FACE(?!T)|FACTS)/.test(name) &&
          !allowed.includes(name),
      );
    expect(vague).to.deep.equal([]);
  });
});

/** The files that export each name. */
function homesOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const homes = new Map<string, string[]>();
  for (const file of files) {
    for (const [, name = ''] of textOf(file).matchAll(DECLARED)) homes.set(name, [...(homes.get(name) ?? []), file]);
  }
  return homes;
}
