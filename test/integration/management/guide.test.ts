/** The page of the guide to the management API, typed in as a reader would, against a real process. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { guideCommands } from '../../support/guide-page.js';
import { endEverything, startMillrace } from '../../support/millrace-process.js';

const PAGE = 'management.md';
const EMAIL = 'admin@localhost.localdomain';
const KEY = 'mrk_a-key-for-trying-out';
const END = '../../support/memory/ end';

describe('the guide to the management API', function () {
  this.timeout(60_000);

  after(() => endEverything());

  it('prints what it says', async function () {
    if (spawnSync('curl', ['--version']).status !== 0) {
      console.log('    there is no curl here: the guide is not tried out');
      this.skip();
    }
    const { addresses } = await startMillrace({ env: { MILLRACE_MGMT_EMAIL: EMAIL, MILLRACE_MGMT_KEY: KEY } });
    const { port } = new URL(addresses.mgmt as string);
    // Readers come later than this: statistics are folded for a moment after the start.
    await eventually(async () => {
      const authorization = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}`;
      expect((await fetch(`${addresses.mgmt}/v2/search/stats`, { headers: { authorization } })).status).to.equal(200);
    });
    const commands = guideCommands(PAGE, (text) => text.replaceAll(':7300', `:${port}`));
    expect(commands.filter(({ prints }) => prints !== undefined)).to.have.lengthOf.above(5);
    // One shell for the page: what a command sets, the next ones have.
    const script = commands.map(({ text }) => `${text}\necho '${END}'`).join('\n');
    const { stdout } = spawnSync('bash', ['--noprofile', '--norc', '-c', script], {
      encoding: 'utf8',
      timeout: 30_000,
    });
    const printed = stdout.split(`${END}\n`);
    for (const [at, { text, prints }] of commands.entries()) {
      if (prints !== undefined) expect(printed[at], text).to.match(prints);
      expect(printed[at], text).to.not.include('"error"');
    }
  });
});
