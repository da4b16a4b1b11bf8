/** The files that every command loads before it is known: a small part of the program. Proves PAR1. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';

const BUNDLE = new URL('../../../src/cli/bundle/', import.meta.url);
/** The parser is a third of it; the serving part is ten times as large. */
const MOST_BYTES = 400_000;
/** With the settings and their rules. The commands `tools` and `doctor` are in the same file. */
const MOST_BYTES_WITH_SETTINGS = 700_000;

describe('the start of a light command', () => {
  it('loads no file that another command needs', () => {
    const loaded = loadedBy(pieceOf('program'));
    const bytes = [...loaded].reduce((sum, name) => sum + statSync(new URL(name, BUNDLE)).size, 0);
    expect(bytes).to.be.lessThan(MOST_BYTES);
    expect([...loaded].filter((name) => name.includes('command-'))).to.deep.equal([]);
  });

  it('loads as little before nats-server is started, and the rest after that', () => {
    const loaded = loadedBy(pieceOf('serve-command'));
    expect([...loaded].reduce((sum, each) => sum + statSync(new URL(each, BUNDLE)).size, 0)).to.be.lessThan(MOST_BYTES);
  });

  it('loads only the settings in addition for "millrace config"', () => {
    const loaded = loadedBy(pieceOf('program'), loadedBy(pieceOf('config-command')));
    const bytes = [...loaded].reduce((sum, each) => sum + statSync(new URL(each, BUNDLE)).size, 0);
    expect(bytes).to.be.lessThan(MOST_BYTES_WITH_SETTINGS);
  });
});

function pieceOf(stem: string): string {
  const [name = ''] = readdirSync(BUNDLE).filter((each) => each.startsWith(`${stem}-`));
  return name;
}

/** The file with all files that it imports statically. */
function loadedBy(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const [head = ''] = readFileSync(new URL(name, BUNDLE), 'utf8').split('\n', 1);
  for (const needed of JSON.parse(head.slice(2)).needs) loadedBy(needed, found);
  return found;
}
