/** An engine's flag for nurseries is that of all threads: what the program does about it when it begins. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** Makes more than dies young, in a thread that asks for two megabytes a half, and says how large its nursery became. */
const THREAD = `
  const kept = [];
  for (let made = 0; made < 2_000_000; made += 1) kept[made % 200_000] = { made };
  const space = require('node:v8').getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  console.log('NURSERY ' + space.space_size / 1024 / 1024);`;
/** In place of the end, when the program has run. */
const BESIDE = `import { Worker } from 'node:worker_threads';
  process.exit = () => {
    new Worker(${JSON.stringify(THREAD)}, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
  };`;

describe('the nursery of a thread', function () {
  this.timeout(30_000);

  it('is as large as the thread says, whatever the process was started with', () => {
    const flags = ['--max-semi-space-size=8', '--import', `data:text/javascript,${encodeURIComponent(BESIDE)}`];
    const { stdout } = spawnSync(process.execPath, [...flags, MAIN, 'version'], { encoding: 'utf8' });
    expect(/^NURSERY (\d+)/m.exec(stdout)?.[1], stdout).to.equal('4');
  });
});
