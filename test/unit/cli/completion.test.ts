/** What the shells are offered, asked of the scripts in a real bash, and of zsh and fish where they are there. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { candidates, completionScript } from '../../../src/cli/completion.js';
import { commandTree } from '../../../src/cli/lines/tree.js';
import { typed } from '../../support/command-lines.js';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

describe('completion', function () {
  this.timeout(20_000);
  const never = async () => 0;
  const tree = commandTree({
    process: never,
    db: never,
    account: never,
    journal: never,
    backup: never,
    cluster: never,
  });
  const words = (...typing: string[]) => candidates(tree, typing).map((line) => line.split('\t')[0]);

  it('offers commands, then their verbs, then options, each with what it does', () => {
    expect(words('')).to.include.members(['serve', 'db', 'journal', 'doctor', 'completion', 'help']);
    expect(words('')).not.to.include('complete');
    expect(words('db', 'l')).to.deep.equal(['list', 'limits']);
    expect(words('db', 'delete', 'shop', '--')).to.include.members(['--yes', '--json', '--help', '--version']);
    expect(candidates(tree, ['db', 'lis'])).to.deep.equal([
      'list\tlists databases, their limits and what they were used for today',
    ]);
  });

  it('offers nothing of its own where an option wants a value, and passes over values that look like commands', () => {
    expect(words('journal', 'export', '--from', '')).to.deep.equal([]);
    expect(words('db', 'create', '--name', 'shop', '--part')).to.deep.equal(['--partitions']);
  });

  it('has no script for another shell', async () => {
    expect(() => completionScript('tcsh')).to.throw('there is completion for bash, zsh, fish');
    const { code, err } = await typed(['completion']);
    expect(code).to.equal(2);
    expect(err).to.contain("missing required argument 'shell'");
  });

  describe('in a shell', () => {
    let bin = '';
    before(() => {
      bin = mkdtempSync(join(tmpdir(), 'millrace-completion-'));
      writeFileSync(join(bin, 'millrace'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
      chmodSync(join(bin, 'millrace'), 0o755);
    });
    after(() => rmSync(bin, { recursive: true, force: true }));
    const run = (shell: string, ...args: string[]) =>
      spawnSync(shell, args, { env: { ...process.env, PATH: `${bin}:${process.env.PATH}` }, encoding: 'utf8' });

    it('completes in bash', () => {
      const completed = (line: string) => {
        const typing = line.split(' ');
        const list = typing.map((word) => `'${word}'`).join(' ');
        const script = [
          'source <(millrace completion bash)',
          `COMP_WORDS=(${list}); COMP_CWORD=${typing.length - 1}`,
          `_millrace millrace '${typing.at(-1)}' ''`,
          'declare -p COMPREPLY',
        ];
        const { stdout, stderr } = run('bash', '--norc', '-c', script.join('\n'));
        expect(stderr).to.equal('');
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
      it(`has a script that ${shell} reads`, function () {
        if (spawnSync(shell, ['--version']).status !== 0) {
          console.log(`      there is no ${shell} here`);
          this.skip();
        }
        const file = join(bin, `script.${shell}`);
        writeFileSync(file, completionScript(shell));
        const { status, stderr } = run(shell, noExecution, file);
        expect([status, stderr]).to.deep.equal([0, '']);
      });
    }
  });
});
