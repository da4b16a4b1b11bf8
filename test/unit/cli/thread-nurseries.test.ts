/** The engine's flag for the young generation applies to all threads; the program sets it at its start. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const MAIN = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
/** Two halves, each a third of the size in `resourceLimits`. */
const NURSERY_MB = 4;
/** Creates more objects than die young, in a thread that requests such a size, and prints the resulting size. */
const THREAD = `
  const kept = [];
  for (let made = 0; made < 2_000_000; made += 1) kept[made % 200_000] = { made };
  const space = require('node:v8').getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  console.log('NURSERY ' + space.space_size / 1024 / 1024);`;
/** Runs at the end of the program. */
const BESIDE = `import { Worker } from 'node:worker_threads';
  process.exit = () => {
    new Worker(${JSON.stringify(THREAD)}, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 6 } });
  };`;

describe('the young generation of a thread', () => {
  it('has the size that the thread requests, for any flags of the process', () => {
    const flags = ['--max-semi-space-size=8', '--import', `data:text/javascript,${encodeURIComponent(BESIDE)}`];
    const { stdout } = spawnSync(process.execPath, [...flags, MAIN, 'version'], { encoding: 'utf8' });
    const nurseryMb = Number(/^NURSERY ([\d.]+)/m.exec(stdout)?.[1]);
    // Since Node.js 26 it grows by parts of a megabyte. With the size of the flag it would be four times as large.
    expect(nurseryMb, stdout).to.be.within(NURSERY_MB / 2, NURSERY_MB);
  });
});
