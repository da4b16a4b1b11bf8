import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { machineSize, workersFor } from '../../../../src/adapters/workers/index.js';
import { joinedPages, pauseAfter } from '../../../../src/adapters/workers/worker-pool.js';

const GIB = 1024 ** 3;

describe('MILLRACE_WORKERS=auto', () => {
  const heapBytes = GIB;

  it('is one worker for two processors', () => {
    const of = (processors: number) => workersFor({ processors, memoryBytes: 64 * GIB, heapBytes });
    expect([1, 2, 3, 4, 8, 32].map(of)).to.deep.equal([1, 1, 1, 2, 4, 16]);
  });

  it('is never more than the memory allows, and at least one', () => {
    const of = (memoryBytes: number) => workersFor({ processors: 16, memoryBytes, heapBytes });
    expect([1, 2, 4, 8].map((gib) => of(gib * GIB))).to.deep.equal([1, 1, 2, 6]);
  });

  it('counts the limits of a container', () => {
    const cgroup = mkdtempSync(join(tmpdir(), 'cgroup-'));
    writeFileSync(join(cgroup, 'cpu.max'), '50000 100000\n');
    writeFileSync(join(cgroup, 'memory.max'), '536870912\n');
    expect(machineSize(cgroup)).to.include({ processors: 1, memoryBytes: GIB / 2 });
    writeFileSync(join(cgroup, 'cpu.max'), 'max 100000\n');
    writeFileSync(join(cgroup, 'memory.max'), 'max\n');
    expect(machineSize(cgroup)).to.deep.equal(machineSize('/nowhere'));
    rmSync(cgroup, { recursive: true });
  });
});

describe('a worker that ends again and again', () => {
  it('is started after 100 ms, and after twice as long with each failure, up to 30 s', () => {
    const failures = [1, 2, 3, 8, 9, 10, 1000];
    expect(failures.map(pauseAfter)).to.deep.equal([100, 200, 400, 12_800, 25_600, 30_000, 30_000]);
  });
});

describe('the metrics of all workers', () => {
  const page = (worker: number) =>
    `# HELP a First.\n# TYPE a counter\na{worker="${worker}"} 1\n\n# HELP b Second.\n# TYPE b gauge\nb{worker="${worker}"} 2\n`;

  it('are one page, on which each metric is declared once', () => {
    expect(joinedPages([page(1), page(2)])).to.equal(
      '# HELP a First.\n# TYPE a counter\na{worker="1"} 1\na{worker="2"} 1\n\n# HELP b Second.\n# TYPE b gauge\nb{worker="1"} 2\nb{worker="2"} 2\n',
    );
  });
});
