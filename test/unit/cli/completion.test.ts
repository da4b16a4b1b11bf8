/** The completions of the shells, from the scripts in a real bash, and in zsh and fish where they are installed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { candidates, completionScript } from '../../../src/cli/completion.js';
import { treeOf, typed } from '../../support/command-lines.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

describe('completion', () => {
  const tree = treeOf();
  const words = (...typing: string[]) => candidates(tree, typing).map((line) => line.split('\t')[0]);

  it('offers commands, then their verbs, then options, each with a description', () => {
    expect(words('')).to.include.members(['serve', 'db', 'journal', 'doctor', 'completion', 'help']);
    expect(words('')).not.to.include('complete');
    expect(words('db', 'l')).to.deep.equal(['list', 'limits']);
    expect(words('db', 'delete', 'shop', '--')).to.include.members(['--yes', '--json', '--help', '--version']);
    expect(candidates(tree, ['db', 'lis'])).to.deep.equal([
      'list\tlists databases with their limits and usage of today',
    ]);
  });

  it('offers no words where an option needs a value, and skips values that look like commands', () => {
    expect(words('journal', 'export', '--from', '')).to.deep.equal([]);
    expect(words('db', 'create', '--name', 'shop', '--part')).to.deep.equal(['--partitions']);
  });

  it('refuses an unknown shell', async () => {
    expect(() => completionScript('tcsh')).to.throw('completion is available for bash, zsh, fish');
    const { code, err } = await typed(['completion']);
    expect(code).to.equal(2);
    expect(err).to.contain("missing required argument 'shell'");
  });

  describe('completion in a shell', () => {
    let bin = '';
    before(() => {
      bin = mkdtempSync(join(tmpdir(), 'millrace-completion-'));
      writeFileSync(join(bin, 'millrace'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
      chmodSync(join(bin, 'millrace'), 0o755);
    });
    after(() => rmSync(bin, { recursive: true, force: true }));
    const run = (shell: string, ...args: string[]) =>
      spawnSync(shell, args, { env: { ...process.env, PATH: `${bin}:${process.env.PATH}` }, encoding: 'utf8' });

    it('works in bash', () => {
      const completed = (line: string) => {
        const typing = line.split(' ');
        const list = typing.map((word) => `'${word}'`).join(' ');
        const script = [
          'source <(millrace completion bash)',
          `COMP_WORDS=(${list}); COMP_CWORD=${typing.length - 1}`,
          `_millrace millrace '${typing.at(-1)}' ''`,
          'declare -p COMPREPLY',
        ];
        const { status, stdout, stderr } = run('bash', '--norc', '-c', script.join('\n'));
        expect(status, stderr).to.equal(0);
        return [...stdout.matchAll(/\]="(.*?)"/g)].map(([, word]) => word);
      };
      expect(completed('millrace cluster dr')).to.deep.equal(['drain']);
      expect(completed('millrace journal verify --a')).to.deep.equal(['--account', '--all', '--against']);
      expect(completed('millrace bac')).to.deep.equal(['backup']);
    });

    for (const [shell, noExecution] of [
      ['zsh', '--no-exec'],
      ['fish', '--no-execute'],
    ] as const) {
      it(`has a script that ${shell} can read`, function () {
        if (spawnSync(shell, ['--version']).status !== 0) {
          console.log(`      there is no ${shell} here`);
          this.skip();
        }
        const file = join(bin, `script.${shell}`);
        writeFileSync(file, completionScript(shell));
        const { status, stderr } = run(shell, noExecution, file);
        expect(status, stderr).to.equal(0);
      });
    }
  });
});
