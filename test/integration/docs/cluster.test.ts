/**
 * docs/operations/cluster.md, typed in on machines that are namespaces. The line before a block ends with the names of
 * its machines; `# →` in a block begins the output that it prints, in that order, with `…` for any text.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Machines, whyNoMachines } from '../../support/machines.js';
import { findNatsServer } from '../../support/nats-server.js';
import { inOrder } from '../../support/pages/expected-output.js';
import { blocksOf, isRunnable } from '../../support/pages/page-blocks.js';
import type { ReaderShell } from '../../support/reader-shell.js';

const PAGE = 'docs/operations/cluster.md';
const MACHINES = ['millrace-1', 'millrace-2', 'millrace-3', 'millrace-4', 'balancer'];
const POWER_OFF = 'poweroff --force';
const BLOCK_TIMEOUT_MS = 180_000;

interface Block {
  readonly section: string;
  readonly machines: readonly string[];
  readonly text: string;
  readonly prints: RegExp;
}

describe('docs/operations/cluster.md, typed in on three machines', function () {
  this.timeout(BLOCK_TIMEOUT_MS * 3);
  const shells = new Map<string, ReaderShell>();
  const all = blocks();
  let dir: string;
  let machines: Machines;
  /** Set after a failed block: the later blocks depend on it and are not run. */
  let isBroken = false;

  before(async function () {
    const why = whyNoMachines(['curl', 'haproxy', 'openssl', 'runuser', 'useradd']);
    if (why !== undefined) {
      console.log(`    ${why}: the page is not typed in`);
      this.skip();
    }
    dir = mkdtempSync(join(tmpdir(), 'millrace-machines-'));
    machines = new Machines(dir, MACHINES, findNatsServer());
    await machines.start();
  });
  after(async () => {
    for (const shell of shells.values()) shell.end();
    await machines?.stop();
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  });

  for (const section of new Set(all.map(({ section }) => section))) {
    it(section, async function () {
      if (isBroken) this.skip();
      isBroken = true;
      for (const block of all.filter((block) => block.section === section)) {
        for (const name of block.machines) await type(block, name);
      }
      isBroken = false;
    });
  }

  it('a machine is named before every block', () => {
    expect(all.filter(({ machines }) => machines.length === 0).map(({ text }) => text)).to.deep.equal([]);
  });

  async function type({ text, prints }: Block, name: string): Promise<void> {
    if (text.trim() === POWER_OFF) {
      shells.get(name)?.end();
      shells.delete(name);
      await machines.powerOff(name);
      return;
    }
    if (!machines.isOn(name)) await machines.powerOn(name);
    const shell = shells.get(name) ?? (await opened(name));
    const printed = await shell.run(`${text}echo "exit code $?"`, BLOCK_TIMEOUT_MS);
    if (prints.test(printed) && printed.endsWith('exit code 0\n')) return;
    const logs = await shell.run('tail -n 5 /run/*.log');
    expect.fail(`${name}: ${text}has printed\n${printed}and its logs end with\n${logs}`);
  }

  async function opened(name: string): Promise<ReaderShell> {
    const shell = machines.shell(name);
    shells.set(name, shell);
    await shell.run('exec 2>&1; umask 022; cd /');
    return shell;
  }
});

function blocks(): Block[] {
  return blocksOf(PAGE)
    .filter(isRunnable)
    .map(({ section, paragraph, text }) => {
      // The last sentence, from its last "on": "…. On `millrace-1`, as a client:"
      const place = /\bon\s+`(?:(?!\bon\s)[\s\S])*:$/i.exec(paragraph)?.[0] ?? '';
      const named = [...place.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const lines = [...text.matchAll(/^\s*# → (.*)$/gm)].map(([, line = '']) => line);
      return { section, machines: named.filter((name) => MACHINES.includes(name)), text, prints: inOrder(lines) };
    });
}
