/** The blocks of docs/operations/traces.md, typed in: they print what the page says. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../../support/free-port.js';
import { endEverything, startMillrace, TOKEN, temporaryDirectory } from '../../support/millrace-process.js';
import { ReaderShell } from '../../support/reader-shell.js';

const PAGE = 'docs/operations/traces.md';
const COLLECTOR = '127.0.0.1:4318';

describe('the page on traces', function () {
  this.timeout(60_000);
  let shell: ReaderShell | undefined;

  after(async () => {
    await shell?.run('kill %1');
    shell?.end();
    await endEverything();
  });

  it('has blocks that print what it says', async () => {
    const at = `127.0.0.1:${await freePort()}`;
    const { kvUrl } = await startMillrace({ env: { MILLRACE_OTLP_ENDPOINT: `http://${at}` } });
    const text = readFileSync(PAGE, 'utf8');
    const [listen, ask] = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) =>
      block.replace('4318', at.slice(at.indexOf(':') + 1)).replace('http://127.0.0.1:7100', kvUrl),
    );
    expect(text).to.contain(`MILLRACE_OTLP_ENDPOINT=http://${COLLECTOR}`);
    shell = new ReaderShell({ MILLRACE_KV_TOKEN: TOKEN });
    await shell.run(`cd '${await temporaryDirectory()}'`);
    await shell.run(listen ?? '');
    const printed = await shell.run(ask ?? '');
    const said = [...(ask ?? '').matchAll(/^# → (.*)$/gm)].map(([, line]) => line);
    expect(said).to.have.length(3);
    expect(printed.split('\n').filter((line) => / /.test(line))).to.deep.equal(said);
  });
});
