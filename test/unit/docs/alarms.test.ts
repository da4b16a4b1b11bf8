/** Every log event of level warning or error is on a page for operators. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const PAGES = 'docs/operations';
/** Also where the event is the argument of a function that writes the line. */
const WRITTEN = /\b(?:error|warn)\(\s*'([a-z-]+(?:\.[a-z_-]+)+)'/g;

describe('alarms', () => {
  const pages = readdirSync(PAGES).map((page) => readFileSync(join(PAGES, page), 'utf8'));
  const events = new Set(sourcesBelow('src').flatMap((path) => eventsOf(readFileSync(path, 'utf8'))));

  it('are found in the sources', () => {
    expect(events.size).to.be.above(60);
  });

  it('are all documented for operators', () => {
    const documented = new Set(pages.flatMap(namesIn));
    expect([...events].filter((event) => !documented.has(event)).sort()).to.deep.equal([]);
  });
});

function eventsOf(source: string): string[] {
  return [...source.matchAll(WRITTEN)].map(([, event = '']) => event);
}

/** A name that begins with a dot continues the full name before it in its line. */
function namesIn(page: string): string[] {
  return page.split('\n').flatMap((line) => {
    let beginning = '';
    return [...line.matchAll(/`([a-z-]*\.[a-z._-]+)`/g)].map(([, name = '']) => {
      if (name.startsWith('.')) return beginning + name;
      beginning = name.slice(0, name.lastIndexOf('.'));
      return name;
    });
  });
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesBelow(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}
