/**
 * The directory in which a page is run. It looks like a clone of this repository and has its own data directory. The
 * pages' default ports are replaced by free ports.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { freePort } from '../free-port.js';
import { findNatsServer } from '../nats-server.js';

/** The default ports of the process, by setting, and the ports that pages use for the reader's programs. */
const SERVED = { KV: 7100, QUEUE: 7200, MGMT: 7300, RESP: 6380, METRICS: 7400 };
const OTHERS = [3000, 4318, 4568, 6399, 7500, 9100, 9120, 9200, 9300];
/** Entries that a clone does not have, or that are separate for each reader. */
const LEFT_OUT = new Set(['.git', '.millrace', '.cache', '.tools', 'docs']);
const PROGRAMS_OF_PAGES = 'docs/guide';

/** Of this process of tests, and removed with it. */
let kept: string | undefined;

export class ReaderHome {
  private constructor(
    readonly dir: string,
    private readonly ports: ReadonlyMap<string, number>,
  ) {}

  static async made(): Promise<ReaderHome> {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-reader-'));
    const ports = new Map<string, number>();
    for (const port of [...Object.values(SERVED), ...OTHERS]) ports.set(String(port), await freePort());
    const home = new ReaderHome(dir, ports);
    for (const name of readdirSync('.')) {
      if (!LEFT_OUT.has(name)) symlinkSync(resolve(name), join(dir, name));
    }
    for (const name of ['tmp', 'bin']) mkdirSync(join(dir, name));
    cpSync('docs', join(dir, 'docs'), { recursive: true });
    for (const name of readdirSync(PROGRAMS_OF_PAGES).filter((name) => name.endsWith('.mjs'))) {
      await writeFile(
        join(dir, PROGRAMS_OF_PAGES, name),
        home.here(await readFile(join(PROGRAMS_OF_PAGES, name), 'utf8')),
      );
    }
    home.#puts('npm', npmWithKeptPackages());
    home.#puts('millrace', `exec '${process.execPath}' dist/src/cli/main.js "$@"`);
    // `make` treats the test's build as current, and ignores the times of its files.
    home.#puts('make', 'exec /usr/bin/make --no-print-directory -o dist/.built -o node_modules/.installed "$@"');
    return home;
  }

  /** Replaces ports and temporary directories in a text by the reader's own. */
  here(text: string): string {
    const numbers = new RegExp(`(?<![\\d.])(?:${[...this.ports.keys()].join('|')})(?!\\d)`, 'g');
    return text
      .replace(numbers, (port) => String(this.ports.get(port)))
      .replaceAll(/(?<=[\s=])\/tmp\//g, `${this.dir}/tmp/`);
  }

  /** The environment of other processes, with their own free ports. */
  get envOfOtherProcess(): Record<string, string | undefined> {
    const any = Object.keys(SERVED).map((name) => [`MILLRACE_${name}_PORT`, '0']);
    return { ...this.env, ...Object.fromEntries(any) };
  }

  /** Settings in addition to those of the page. */
  get env(): Record<string, string | undefined> {
    const served = Object.entries(SERVED).map(([name, port]) => [
      `MILLRACE_${name}_PORT`,
      String(this.ports.get(String(port))),
    ]);
    const server = findNatsServer();
    return {
      ...Object.fromEntries(served),
      HOME: this.dir,
      PATH: `${this.dir}/bin:${dirname(process.execPath)}:${process.env.PATH}`,
      MILLRACE_NATS_SERVER: server.includes('/') ? resolve(server) : undefined,
      MILLRACE_HEAP_MB: '256',
      npm_config_cache: process.env.npm_config_cache ?? join(homedir(), '.npm'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      NEXT_TELEMETRY_DISABLED: '1',
    };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #puts(name: string, script: string): void {
    const path = join(this.dir, 'bin', name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }
}

/**
 * An installation of Next.js writes 344 MB, for which npm takes 22 seconds of processor time. If all packages were
 * installed for an earlier page in the same versions, a later page gets links to their files. The directory `first` makes
 * sure that only one of two installations at the same time is kept.
 */
function npmWithKeptPackages(): string {
  if (kept === undefined) {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-packages-'));
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
    kept = dir;
  }
  return `
if [ "$1" = install ] && [ -f '${kept}/names' ]; then
  shift
  missing=$(printf '%s\\n' "$@" | grep -vxFf '${kept}/names')
  [ -z "$missing" ] && exec cp -al '${kept}/node_modules' .
  set -- install "$@"
fi
PATH=\${PATH#*:}
npm "$@" || exit
[ "$1" = install ] && mkdir '${kept}/first' 2>/dev/null || exit 0
shift
cp -al node_modules '${kept}/' && printf '%s\\n' "$@" > '${kept}/names'`;
}
