/** What a stand knew when something did not hold, kept where the next run overwrites it. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterStand } from './cluster-stand.js';

const DIR = join(tmpdir(), 'millrace-cluster-faults');

/** @returns where the logs of all processes and nats-servers are, and what each server says of its streams */
export async function keepEvidence({ everStarted, nats }: ClusterStand): Promise<string> {
  await rm(DIR, { recursive: true, force: true });
  await mkdir(DIR, { recursive: true });
  for (const [number, { name, process }] of everStarted.entries()) {
    await writeFile(join(DIR, `process-${number}-${name}.log`), process.stderr());
  }
  for (const node of nats.nodes) {
    await writeFile(join(DIR, `${node.name}.log`), await node.log());
    const streams = await node.streams().catch((error: Error) => error.message);
    await writeFile(join(DIR, `${node.name}.json`), JSON.stringify(streams, undefined, 1));
  }
  return DIR;
}
