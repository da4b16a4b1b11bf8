/** The workflow program of docs/wire-aliases.md, run as a reader would run it: it prints the output on the page. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';
import { QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const RUN_TIMEOUT_MS = 45_000;
const PAGE = 'docs/wire-aliases.md';
const PROGRAM = /```js\n(\/\/ order\.mjs\n[\s\S]*?)```/;
const PRINTS = /console\.log\(run\.workflowRunResponse\);\s*\/\/ (.*)/;

describe('the workflow program of docs/wire-aliases.md', function () {
  this.timeout(60_000);
  const queue = standOfAllTests(() => QueueProcess.start());

  it('prints the documented output', async () => {
    const [, program = ''] = PROGRAM.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const [, prints = ''] = PRINTS.exec(program) ?? [];
    const here = program
      .replaceAll('http://127.0.0.1:7200', queue.url)
      .replaceAll('http://127.0.0.1:9100', queue.sink.origin)
      .replaceAll('9300', String(await freePort()))
      .replaceAll('eyJVc2VySUQiOiJtZSJ9', QUEUE_TOKEN);
    queue.sink.answer('/stock', { status: 200, body: 'seen' });
    expect(await printedBy(here)).to.equal(`${prints}\n`);
  });
});

/** Runs the program in this directory, which has the packages. The program waits for a success, so it has a timeout. */
function printedBy(program: string): Promise<string> {
  const node = spawn(process.execPath, ['--input-type=module', '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: RUN_TIMEOUT_MS,
  });
  node.stdin.end(program);
  let printed = '';
  node.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => node.once('close', () => resolve(printed)));
}
