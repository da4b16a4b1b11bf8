import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../../infra/write-limits-page.mjs', import.meta.url));

describe('docs/limits.md', () => {
  it('has every bound with its value in the sources', () => {
    execFileSync(process.execPath, [SCRIPT, '--check'], { stdio: ['ignore', 'ignore', 'pipe'] });
  });
});
