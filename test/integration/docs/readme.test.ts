/** README's first steps, typed in as a reader would, against a real process: what they print is what it says. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { type GuideCommand, guideCommands } from '../../support/guide-page.js';
import {
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { ReaderShell } from '../../support/reader-shell.js';

const PAGE = '../../README.md';
/** What begins the process, and what a reader gives a terminal of its own or types into another program. */
const BESIDE = /^(?:MILLRACE_|node -e|node docs\/|curl -sN|redis-cli|127\.0\.0\.1:6|\(integer\)|\d\) )/;
const OPERATORS = 'node dist/src/cli/main.js';
const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** What only asks, or may be done again, and is a moment behind. */
const MAY_BE_REPEATED = /^(?:q '?\/v2\/(?:events|dlq|workflows|notify)|s \/search|m "?\/v2\/kv\/stats|m \/auditlogs)/;
const TIMEOUT_MS = 20_000;

describe('the first steps of the README', function () {
  this.timeout(120_000);
  const beside: ChildProcessWithoutNullStreams[] = [];
  let millrace: MillraceProcess;
  let translated: (text: string) => string;
  let shell: ReaderShell;
  let heard = '';

  const start = (command: string, args: readonly string[]) => {
    const child = spawn(command, args);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
    });
    beside.push(child);
  };
  const commands = (): GuideCommand[] => guideCommands(PAGE, translated);
  const commandThat = (begins: string): string => {
    const found = commands().find(({ text }) => text.startsWith(begins));
    return (found as GuideCommand).text;
  };

  before(async function () {
    if (spawnSync('curl', ['--version']).status !== 0) {
      console.log('    there is no curl here: the README is not tried out');
      this.skip();
    }
    const dataDir = await temporaryDirectory();
    const embedded = await embeddedEnvironment(dataDir);
    millrace = await startMillrace({ dataDir, env: { ...givenInReadme() } });
    const [receiver, endpoint] = [await freePort(), await freePort()];
    const { kv = '', queue = '', mgmt = '' } = millrace.addresses;
    const elsewhere = await temporaryDirectory();
    translated = (text) =>
      text
        .replaceAll('127.0.0.1:7100', new URL(kv).host)
        .replaceAll('127.0.0.1:7200', new URL(queue).host)
        .replaceAll('127.0.0.1:7300', new URL(mgmt).host)
        .replaceAll('9100', String(receiver))
        .replaceAll('9200', String(endpoint))
        .replaceAll('/tmp/', `${elsewhere}/`)
        .replaceAll(OPERATORS, `'${process.execPath}' '${MAIN}'`);
    start('bash', ['-c', `exec ${commandThat('node -e')}`]);
    const program = join(elsewhere, 'workflow.mjs');
    writeFileSync(program, translated(readFileSync('docs/guide/workflow.mjs', 'utf8')));
    start(process.execPath, [program]);
    shell = new ReaderShell(embedded);
    await eventually(
      async () => {
        expect(await shell.run(`curl -s http://127.0.0.1:${receiver}/ready`)).to.equal('seen');
        expect(heard).to.contain(`workflows at http://127.0.0.1:${endpoint}`);
        // Lists are there a moment after the ready line.
        const events = `curl -s -H 'Authorization: Bearer eyJVc2VySUQiOiJtZSJ9' ${queue}/v2/events`;
        expect(await shell.run(events)).to.contain('"events"');
      },
      { timeoutMs: TIMEOUT_MS },
    );
  });

  after(async () => {
    shell?.end();
    for (const child of beside) child.kill('SIGKILL');
    await endEverything();
  });

  it('print what it says', async () => {
    const typed = commands().filter(({ text }) => !BESIDE.test(text) && !isOperators(text));
    expect(typed.filter(({ prints }) => prints !== undefined)).to.have.lengthOf.above(20);
    for (const { text, prints } of typed) {
      if (text.startsWith('kv /publish')) await isSubscribed();
      const printed = await shell.run(text);
      expect(printed, text).to.not.match(/^\{"error"/);
      if (prints === undefined || prints.test(printed)) continue;
      if (!MAY_BE_REPEATED.test(text)) expect(printed, text).to.match(prints);
      await eventually(async () => expect(await shell.run(text), text).to.match(prints), { timeoutMs: TIMEOUT_MS });
    }
  });

  it('let receiver, subscriber and endpoint print what it says', () =>
    eventually(
      () => {
        for (const line of ['POST /orders {"order":1}', 'POST /500 broken', 'data: message,news,hello']) {
          expect(heard).to.contain(line);
        }
        expect(heard).to.match(/^wfr_\S+ returned \{ price: 14, payment: '\{"euros":14\}' \}$/m);
      },
      { timeoutMs: TIMEOUT_MS },
    ));

  it('end with what an operator asks, of the process that runs', async () => {
    const asked = commands().filter(({ text }) => isOperators(text) && !text.includes(' replay '));
    expect(asked).to.have.lengthOf.above(5);
    for (const { text } of asked) {
      const printed = await shell.run(`${text.trim()}; echo "exit code $?"`);
      expect(printed, text).to.match(text.includes(' verify ') ? /^ok\nexit code 0\n$/m : /\nexit code 0\n$/);
    }
  });

  it('have the ready line that a process prints', () => {
    const ready = /^ready .*$/m.exec(readFileSync('README.md', 'utf8'))?.[0] ?? '';
    const names = (line: string) => [...line.matchAll(/(\w+)=/g)].map(([, name]) => name);
    expect(names(ready)).to.deep.equal(['kv', 'queue', 'mgmt', 'resp', 'metrics']);
    expect(names(ready)).to.include.members(Object.keys(millrace.addresses));
  });

  /** Once, in the terminal of its own that it asks for. */
  async function isSubscribed(): Promise<void> {
    start('bash', ['-c', `exec ${commandThat('curl -sN')}`]);
    await eventually(() => expect(heard).to.contain('data: subscribe,news,1'), { timeoutMs: TIMEOUT_MS });
  }

  function isOperators(text: string): boolean {
    return text.startsWith(`'${process.execPath}'`);
  }
});

/** The settings in front of `make run`. */
function givenInReadme(): Record<string, string> {
  const text = readFileSync('README.md', 'utf8');
  const line = /^((?:MILLRACE_\S+=\S+[ \\\n]+)+)make run$/m.exec(text)?.[1] ?? '';
  const given = [...line.matchAll(/(MILLRACE_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]);
  return { ...Object.fromEntries(given), MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true' };
}
