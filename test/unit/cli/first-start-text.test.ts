import { expect } from 'chai';
import { credentialLines } from '../../../src/adapters/node/index.js';
import { firstStartText } from '../../../src/cli/serve-command.js';
import { completeCredentials } from '../../../src/messages/index.js';
import { seededRandom } from '../../support/kv-bench.js';

const FILE = '/data/credentials.env';

describe('what the first start shows', () => {
  const given = { kvToken: 'given-by-the-operator' };
  const all = completeCredentials(given, seededRandom(1));
  const lines = credentialLines(all, given);

  it('is what it made, on a terminal', () => {
    const text = firstStartText({ file: FILE, lines }, true);
    expect(text).to.match(/^# First start: these credentials are shown once, and kept in \/data\/credentials\.env\.\n/);
    expect(text).to.include(`MILLRACE_KV_PASSWORD=${all.kvPassword}\n`);
    expect(text).to.include(`MILLRACE_MGMT_KEY=${all.mgmtKey}\n`);
  });

  it('is nothing that the operator gave', () => {
    expect(lines).not.to.include('MILLRACE_KV_TOKEN');
    expect(firstStartText({ file: FILE, lines: credentialLines(all, all) }, true)).to.equal(
      `# First start: the credentials are kept in ${FILE}.\n`,
    );
  });

  it('is where they are, and no secret, anywhere else', () => {
    expect(firstStartText({ file: FILE, lines }, false)).to.equal(
      `# First start: the credentials are kept in ${FILE}.\n`,
    );
  });
});
