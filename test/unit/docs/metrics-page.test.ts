/** Generated files equal the output of their generators. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

describe('the generated files about metrics', () => {
  for (const script of ['write-metrics-page.mjs', 'dashboards/write.mjs']) {
    it(`are as infra/${script} writes them`, () => {
      const path = fileURLToPath(new URL(`../../../../infra/${script}`, import.meta.url));
      const { status, stderr } = spawnSync(process.execPath, [path, '--check'], { encoding: 'utf8' });
      expect(status, stderr).to.equal(0);
    });
  }
});
