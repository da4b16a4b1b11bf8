/** Proves CF1, CF2, SEA1–SEA3. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { CredentialsFile, credentialLines, NodeRandom, openKeyFile } from '../../../src/adapters/node/index.js';
import { describeError, MillraceError } from '../../../src/kernel/index.js';
import { directoryOf } from '../../support/stand-hooks.js';

const random = new NodeRandom();

async function failureOf(action: () => unknown): Promise<MillraceError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('secret files', () => {
  const directory = directoryOf('each test');

  describe('sealing', () => {
    it('opens a sealed text, also after a restart, and seals differently each time', async () => {
      const path = join(directory.path, 'keys', 'seal.key');
      const sealing = await openKeyFile(path, random);
      const [one, two] = [sealing.seal('päßwort'), sealing.seal('päßwort')];
      expect(one).to.not.equal(two);
      expect(one).to.not.contain('wort');
      expect((await openKeyFile(path, random)).open(one)).to.equal('päßwort');
      expect(sealing.open(sealing.seal(''))).to.equal('');
    });

    it('keeps its key private, with no other file in the directory', async () => {
      await openKeyFile(join(directory.path, 'seal.key'), random);
      expect((await stat(join(directory.path, 'seal.key'))).mode & 0o777).to.equal(0o600);
      expect(await readdir(directory.path)).to.deep.equal(['seal.key']);
    });

    it('creates one key when several processes start at the same time', async () => {
      const path = join(directory.path, 'seal.key');
      const sealings = await Promise.all(Array.from({ length: 8 }, () => openKeyFile(path, random)));
      const sealed = sealings[0]!.seal('x');
      for (const sealing of sealings) expect(sealing.open(sealed)).to.equal('x');
    });

    it('names a text that was sealed with another key', async () => {
      const [one, two] = [
        await openKeyFile(join(directory.path, 'one'), random),
        await openKeyFile(join(directory.path, 'two'), random),
      ];
      const error = await failureOf(() => two.open(one.seal('x')));
      expect(error.code).to.equal('BAD_CONFIG');
    });

    it('refuses a text with a changed bit, and any other text', async () => {
      const sealing = await openKeyFile(join(directory.path, 'seal.key'), random);
      const sealed = sealing.seal('a secret');
      const [format, keyId, body] = sealed.split('.') as [string, string, string];
      const bytes = Buffer.from(body, 'base64url');
      for (const at of [0, 12, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ 1;
        const text = `${format}.${keyId}.${changed.toString('base64url')}`;
        expect((await failureOf(() => sealing.open(text))).code).to.equal('INVALID');
      }
      for (const text of ['', 'a secret', `${format}.${keyId}.AAAA`]) {
        expect((await failureOf(() => sealing.open(text))).code).to.equal('INVALID');
      }
    });

    it('refuses a key file with other contents, and names it', async () => {
      const path = join(directory.path, 'seal.key');
      await writeFile(path, 'too short\n');
      const error = await failureOf(() => openKeyFile(path, random));
      expect(error.code).to.equal('BAD_CONFIG');
      expect(describeError(error)).to.contain(path).and.not.contain('too short');
    });
  });

  describe('credentials', () => {
    it('are generated where they are not given, kept private, and the same at the next start', async () => {
      const path = join(directory.path, 'data', 'credentials.env');
      const given = { kvToken: 'given-token', kvPassword: "it's a phrase # with more" };
      const first = await new CredentialsFile(path, given, random).prepare();
      expect(first.isNew).to.equal(true);
      expect(first.credentials).to.include(given);
      expect(first.credentials.kvReadonlyToken).to.match(/^mrr_[\w-]{32}$/);
      expect(first.credentials.mgmtEmail).to.contain('@');
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      const later = await new CredentialsFile(path, { kvToken: 'another' }, random).prepare();
      expect(later).to.deep.equal({ credentials: first.credentials, isNew: false });
    });

    it('include a queue token that names a user', async () => {
      const { credentials } = await new CredentialsFile(join(directory.path, 'c.env'), {}, random).prepare();
      const parsed = JSON.parse(Buffer.from(credentials.queueToken, 'base64').toString('utf8'));
      expect(parsed.UserID).to.match(/^[0-9a-f]{8}-/);
      expect(parsed.Password).to.have.length(32);
    });

    it('that a file lacks are added to it', async () => {
      const path = join(directory.path, 'credentials.env');
      await writeFile(path, 'MILLRACE_KV_TOKEN=kept\n# a remark\nMILLRACE_MGMT_KEY=\n');
      const { credentials, isNew } = await new CredentialsFile(path, {}, random).prepare();
      expect(isNew).to.equal(false);
      expect(credentials.kvToken).to.equal('kept');
      expect(credentials.mgmtKey).to.match(/^mrk_/);
      expect(await readFile(path, 'utf8')).to.contain(credentialLines(credentials));
    });

    it('have 192 bits each and are never the same twice', async () => {
      const made = await Promise.all(
        ['a', 'b'].map((name) => new CredentialsFile(join(directory.path, name), {}, random).prepare()),
      );
      const texts = made.flatMap(({ credentials }) => [
        credentials.kvToken,
        credentials.kvPassword,
        credentials.mgmtKey,
      ]);
      expect(new Set(texts).size).to.equal(texts.length);
      for (const text of texts) expect(Buffer.from(text.slice(4), 'base64url')).to.have.length(24);
    });
  });
});
