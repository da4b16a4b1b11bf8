import { expect } from 'chai';
import { credentialLines } from '../../../src/adapters/node/index.js';
import { firstStartText } from '../../../src/cli/serve-command.js';
import { completeCredentials } from '../../../src/protocol/index.js';
import { seededRandom } from '../../support/kv-bench.js';

const FILE = '/data/credentials.env';

describe('the output of the first start', () => {
  const given = { kvToken: 'given-by-the-operator' };
  const all = completeCredentials(given, seededRandom(1));
  const lines = credentialLines(all, given);

  it('has the generated credentials on a terminal', () => {
    const text = firstStartText({ file: FILE, lines }, true);
    expect(text).to.match(
      /^# First start: these credentials are shown once and stored in \/data\/credentials\.env\.\n/,
    );
    expect(text).to.include(`MILLRACE_KV_PASSWORD=${all.kvPassword}\n`);
    expect(text).to.include(`MILLRACE_MGMT_KEY=${all.mgmtKey}\n`);
  });

  it('omits credentials that the operator gave', () => {
    expect(lines).not.to.include('MILLRACE_KV_TOKEN');
    expect(firstStartText({ file: FILE, lines: credentialLines(all, all) }, true)).to.equal(
      `# First start: the credentials are stored in ${FILE}.\n`,
    );
  });

  it('has only the path of the file, and no secret, without a terminal', () => {
    expect(firstStartText({ file: FILE, lines }, false)).to.equal(
      `# First start: the credentials are stored in ${FILE}.\n`,
    );
  });
});
