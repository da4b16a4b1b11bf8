/** The programs of docs/wire-aliases.md for search and management, as a reader would run them: they print what it says. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { endEverything, startMillrace, temporaryDirectory } from '../../support/millrace-process.js';
import { ReaderShell } from '../../support/reader-shell.js';

const PAGE = readFileSync('docs/wire-aliases.md', 'utf8');
const KEY = 'mrk_a-key-for-trying-out';
const TIMEOUT_MS = 20_000;
const CLI = join(dirname(createRequire(import.meta.url).resolve('@upstash/cli/package.json')), 'dist/cli.js');

describe('the page on aliases', function () {
  this.timeout(90_000);
  let here: (text: string) => string;
  let shell: ReaderShell | undefined;

  before(async () => {
    const alias = /^MILLRACE_WIRE_ALIAS="(Up\S+)"$/m.exec(PAGE)?.[1] ?? '';
    const { addresses } = await startMillrace({ env: { MILLRACE_MGMT_KEY: KEY, MILLRACE_WIRE_ALIAS: alias } });
    here = (text) => text.replaceAll('http://127.0.0.1:7300', addresses.mgmt as string);
  });

  after(async () => {
    shell?.end();
    await endEverything();
  });

  it('has a program with the search client that prints what it says', async () => {
    const program = block('js', '// search.mjs\n');
    const [, prints = ''] = /^console\.log\(.*\);\s*\/\/ (.*)$/m.exec(program) ?? [];
    expect(await printedBy(here(program))).to.equal(`${prints}\n`);
  });

  it('has lines with the command line for management that do what they say', async () => {
    const folder = await temporaryDirectory();
    writeFileSync(join(folder, 'turn-host.mjs'), here(block('js', '// turn-host.mjs\n')));
    shell = new ReaderShell({ HOME: folder });
    await shell.run(`cd '${folder}'`);
    const lines = block('sh', 'export UPSTASH_EMAIL').trim().split('\n');
    expect(lines).to.have.lengthOf.above(5);
    const printed: string[] = [];
    for (const line of lines) {
      const typed = line.replace('npx upstash', `'${process.execPath}' '${CLI}'`);
      const [, shown = '', code] =
        /^([\s\S]*)@(\d+)\n$/.exec(await shell.run(`${typed}; echo "@$?"`, TIMEOUT_MS)) ?? [];
      expect(code, `${line}: ${shown}`).to.equal('0');
      printed.push(shown);
    }
    const [, , made = '', list = '', index = '', queues = '', team = ''] = printed;
    expect(JSON.parse(made)).to.include({ database_name: 'shop', primary_region: 'eu-west-1' });
    expect(JSON.parse(list)).to.have.length(2);
    expect(JSON.parse(index)).to.include({ name: 'papers', type: 'payg' });
    expect(JSON.parse(queues)).to.have.length(1);
    expect(JSON.parse(team)).to.include({ team_name: 'crew' });
  });
});

/** @param begins of its text */
function block(language: string, begins: string): string {
  const blocks = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))];
  const found = blocks.find(([, text = '']) => text.startsWith(begins))?.[1];
  if (found === undefined) throw new Error(`the page has no block that begins with ${begins}`);
  return found;
}

/** From here, where the packages are. */
function printedBy(program: string): Promise<string> {
  const node = spawn(process.execPath, ['--input-type=module', '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: TIMEOUT_MS,
  });
  node.stdin.end(program);
  let printed = '';
  node.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => node.once('close', () => resolve(printed)));
}
