/**
 * README and the pages under docs, carried out by a reader who starts with an empty machine (docs/testing.md explains
 * the blocks). The page of a cluster needs its own machines: cluster.test.ts.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, isRunnable } from '../../support/pages/page-blocks.js';
import { PageReading } from '../../support/pages/page-reading.js';

const OF_MACHINES = 'docs/operations/cluster.md';
const NEEDED = ['curl', 'redis-cli', 'redis-server', 'openssl', 'python3'];
const PAGE_TIMEOUT_MS = 240_000;
/** At a time: a page mostly waits. */
const READERS = 3;
/** `DOCS_PAGE=guide/publishing` reads one. */
const ONLY = process.env.DOCS_PAGE ?? '';

describe('the examples of the documentation', function () {
  this.timeout(PAGE_TIMEOUT_MS);
  const pages = ['README.md', ...pagesUnder('docs')].filter(
    (page) => page !== OF_MACHINES && page.includes(ONLY) && blocksOf(page).some(isRunnable),
  );
  const read = new Map<string, Promise<void>>();
  let missing: string | undefined;

  before(() => {
    missing = NEEDED.find((name) => spawnSync('which', [name]).status !== 0);
    if (missing !== undefined) console.log(`    there is no ${missing}: the pages are not tried out`);
    else readAll();
  });

  for (const page of pages) {
    it(`in ${page} run and print their documented output`, async function () {
      if (missing !== undefined) this.skip();
      await read.get(page);
    });
  }

  function readAll(): void {
    const lanes = new Array<Promise<void>>(READERS).fill(Promise.resolve());
    for (const [at, page] of pages.entries()) {
      const reading = (lanes[at % READERS] as Promise<void>).then(() => PageReading.of(page));
      read.set(page, reading);
      lanes[at % READERS] = reading.catch(() => undefined);
    }
  }
});

function pagesUnder(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(dir, name))
    .sort();
}
