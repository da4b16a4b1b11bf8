import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../../infra/write-house.mjs', import.meta.url));

describe('docs/house.svg', () => {
  it('is the picture of the imports of src', () => {
    execFileSync(process.execPath, [SCRIPT, '--check'], { stdio: ['ignore', 'ignore', 'pipe'] });
  });
});
