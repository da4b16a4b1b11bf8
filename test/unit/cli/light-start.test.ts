/** What every command loads before it knows what is asked: a small part of the program. Proves PAR1. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const BUNDLE = new URL('../../../src/cli/bundle/', import.meta.url);
const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** The parser is a third of it; what serves has ten times as much. */
const MOST_BYTES = 400_000;
const MOST_MS = 300;
/** The one that took least counts: other work on the machine is none of this. */
const TRIES = 5;

describe('the start of a light command', function () {
  this.timeout(30_000);

  it('loads no file that another command needs', () => {
    const loaded = loadedBy(pieceOf('program'));
    const bytes = [...loaded].reduce((sum, name) => sum + statSync(new URL(name, BUNDLE)).size, 0);
    expect(bytes).to.be.lessThan(MOST_BYTES);
    expect([...loaded].filter((name) => name.includes('command-'))).to.deep.equal([]);
  });

  it('is as light before the nats-server of a process is started, while which the rest is loaded', () => {
    const loaded = loadedBy(pieceOf('serve-command'));
    expect([...loaded].reduce((sum, each) => sum + statSync(new URL(each, BUNDLE)).size, 0)).to.be.lessThan(MOST_BYTES);
  });

  for (const words of [['--help'], ['version'], ['config']]) {
    it(`takes less than ${MOST_MS} ms of a processor for "millrace ${words.join(' ')}"`, () => {
      const line = `TIMEFORMAT='%U %S'; time '${process.execPath}' '${MAIN}' ${words.join(' ')} > /dev/null`;
      const times = Array.from({ length: TRIES }, () => {
        const { status, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
        expect(status).to.equal(0);
        const [user = 0, system = 0] = stderr.trim().split(' ').map(Number);
        return 1000 * (user + system);
      });
      expect(Math.min(...times))
        .to.be.greaterThan(0)
        .and.lessThan(MOST_MS);
    });
  }
});

function pieceOf(stem: string): string {
  const [name = ''] = readdirSync(BUNDLE).filter((each) => each.startsWith(`${stem}-`));
  return name;
}

/** With all that it needs, and not what it asks for once it is run. */
function loadedBy(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const [head = ''] = readFileSync(new URL(name, BUNDLE), 'utf8').split('\n', 1);
  for (const needed of JSON.parse(head.slice(2)).needs) loadedBy(needed, found);
  return found;
}
