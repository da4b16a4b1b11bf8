/** Stores the logs of a failed run in a directory that the next failed run overwrites. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterStand } from './cluster-stand.js';

const DIR = join(tmpdir(), 'millrace-cluster-faults');

/**
 * @returns the directory with the logs of all processes and nats-servers, and each server's description of its
 * streams
 */
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
