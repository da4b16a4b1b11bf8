/** The files that every command loads before it is known: a small part of the program. Proves PAR1. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';

const BUNDLE = new URL('../../../src/cli/bundle/', import.meta.url);
/** The parser is half of it; the serving part is forty times as large. */
const MOST_BYTES = 150_000;
/** With the settings and their rules, as `serve` loads them before it starts nats-server. */
const MOST_BYTES_WITH_SETTINGS = 650_000;
/** With the client of NATS and the commands of the control actor. */
const MOST_BYTES_OF_A_QUESTION = 1_100_000;
/** An import of a file in the same folder; a dynamic import has a parenthesis. */
const IMPORT = /\b(?:import|from)"\.\/([\w.-]+)"/g;

describe('the start of a light command', () => {
  it('loads no file that another command needs', () => {
    const loaded = loadedBy('program.js');
    expect(bytesOf(loaded)).to.be.lessThan(MOST_BYTES);
    expect([...loaded].filter((name) => name.includes('command-'))).to.deep.equal([]);
  });

  it('loads a quarter of the program before nats-server is started, and the rest after that', () => {
    expect(bytesOf(loadedBy(fileOf('serve-command')))).to.be.lessThan(MOST_BYTES_WITH_SETTINGS);
    expect(bytesOf(loadedBy(fileOf('composition')))).to.be.greaterThan(3 * MOST_BYTES_WITH_SETTINGS);
  });

  it('loads only the settings in addition for "millrace config"', () => {
    const loaded = loadedBy('program.js', loadedBy(fileOf('config-command')));
    expect(bytesOf(loaded)).to.be.lessThan(MOST_BYTES_WITH_SETTINGS);
  });

  it('loads neither engine nor endpoints for commands that ask a running process, such as "millrace db list"', () => {
    const loaded = loadedBy('program.js', loadedBy(fileOf('admin-commands')));
    expect(bytesOf(loaded)).to.be.lessThan(MOST_BYTES_OF_A_QUESTION);
  });
});

function fileOf(stem: string): string {
  const [name = ''] = readdirSync(BUNDLE).filter((each) => each.startsWith(`${stem}-`));
  return name;
}

function bytesOf(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + statSync(new URL(name, BUNDLE)).size, 0);
}

/** The file with all files that it imports statically. */
function loadedBy(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(new URL(name, BUNDLE), 'utf8');
  for (const [, needed = ''] of text.matchAll(IMPORT)) loadedBy(needed, found);
  return found;
}
