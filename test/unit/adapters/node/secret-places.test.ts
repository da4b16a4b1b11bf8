/** The places of secrets: files, variables of the environment, and commands. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readSecret } from '../../../../src/adapters/node/index.js';
import { directoryOf } from '../../../support/stand-hooks.js';

describe('the place of a secret', () => {
  const folder = directoryOf('each test');

  function file(text: string): string {
    const path = join(folder.path, 'secret');
    writeFileSync(path, text);
    return path;
  }

  it('file: is a text without the line end that editors add', () => {
    expect(readSecret({ kind: 'file', place: file('a secret \n') })).to.equal('a secret ');
    expect(readSecret({ kind: 'file', place: file('a secret\r\n') })).to.equal('a secret');
  });

  it('file: is refused above 64 KiB, and when it cannot be read', () => {
    const path = file('x'.repeat(64 * 1024 + 1));
    expect(() => readSecret({ kind: 'file', place: path })).to.throw(`${path} has more than 65536 bytes`);
    expect(() => readSecret({ kind: 'file', place: join(folder.path, 'none') })).to.throw('ENOENT');
  });

  it('env: is another variable, which must be set', () => {
    const [name, text] = Object.entries(process.env).find(([, value]) => value !== '') as [string, string];
    expect(readSecret({ kind: 'env', place: name })).to.equal(text);
    expect(() => readSecret({ kind: 'env', place: 'MILLRACE_NOT_SET' })).to.throw('MILLRACE_NOT_SET is not set');
  });

  it('exec: is the output of a command line of the shell', () => {
    expect(readSecret({ kind: 'exec', place: 'printf %s "a b" | tr a-z A-Z; echo' })).to.equal('A B');
  });

  it('exec: is refused when the command fails, prints more than 64 KiB or takes too long', () => {
    const run = (place: string, commandMs?: number) => () => readSecret({ kind: 'exec', place }, commandMs);
    expect(run('echo secret; exit 3')).to.throw('the command ended with exit code 3');
    expect(run('head -c 70000 /dev/zero')).to.throw('the command printed more than 65536 bytes');
    expect(run('exec sleep 60', 20)).to.throw('the command did not end within 20 ms');
  });
});
