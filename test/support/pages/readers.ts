/** Declares a test for each page of a group, and reads several pages at the same time, because a page mostly waits. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, isRunnable } from './page-blocks.js';
import { PageReading, type SharedServer } from './page-reading.js';

const OF_MACHINES = 'docs/operations/cluster.md';
const NEEDED = ['curl', 'redis-cli', 'redis-server', 'openssl', 'python3'];
/** A page that installs packages takes minutes on a slow machine. */
const PAGE_TIMEOUT_MS = 900_000;
const READERS = 2;
/** `DOCS_PAGE=guide/publishing` reads one. */
const ONLY = process.env.DOCS_PAGE ?? '';

interface Group {
  isRead(page: string): boolean;
  /** Starts the process that all pages of a reader share. */
  start?(): Promise<SharedServer>;
}

export function describePages(title: string, { isRead, start }: Group): void {
  describe(title, function () {
    this.timeout(PAGE_TIMEOUT_MS);
    const pages = ['README.md', ...pagesUnder('docs')].filter(
      (page) => page !== OF_MACHINES && page.includes(ONLY) && blocksOf(page).some(isRunnable) && isRead(page),
    );
    const read = new Map<string, Promise<void>>();
    const servers: Promise<SharedServer>[] = [];
    let missing: string | undefined;

    before(() => {
      missing = NEEDED.find((name) => spawnSync('which', [name]).status !== 0);
      if (missing !== undefined) console.log(`    there is no ${missing}: the pages are not tried out`);
      else readAll();
    });
    after(async () => {
      for (const server of await Promise.allSettled(servers)) {
        if (server.status === 'fulfilled') await server.value.end();
      }
    });

    for (const page of pages) {
      it(`in ${page} run and print their documented output`, async function () {
        if (missing !== undefined) this.skip();
        await read.get(page);
      });
    }

    function readAll(): void {
      for (let reader = 0; reader < Math.min(READERS, pages.length); reader += 1) {
        const server = start?.();
        if (server !== undefined) servers.push(server);
        let last: Promise<void> = Promise.resolve();
        for (const page of pages.filter((_, at) => at % READERS === reader)) {
          const reading = last.then(async () => PageReading.of(page, await server));
          read.set(page, reading);
          last = reading.catch(() => undefined);
        }
      }
    }
  });
}

function pagesUnder(dir: string): string[] {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(dir, name))
    .sort();
}
