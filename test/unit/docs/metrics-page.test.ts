/** What is written from tables is what the tables say. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

describe('what is written about metrics', () => {
  for (const script of ['write-metrics-page.mjs', 'dashboards/write.mjs']) {
    it(`is what infra/${script} writes`, () => {
      const path = fileURLToPath(new URL(`../../../../infra/${script}`, import.meta.url));
      const { status, stderr } = spawnSync(process.execPath, [path, '--check'], { encoding: 'utf8' });
      expect(status, stderr).to.equal(0);
    });
  }
});
